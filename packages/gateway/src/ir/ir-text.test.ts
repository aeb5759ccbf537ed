import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../sources/file.ts'
import { irOfText, textOfIr } from './ir-text.ts'

const EXAMPLES = join(import.meta.dirname, '../../../../examples')

test('configs come out of their text as they went in', () => {
  const loaded = readdirSync(EXAMPLES)
    .filter((name) => name.endsWith('.yaml'))
    .map((file) => loadConfig(readFileSync(join(EXAMPLES, file), 'utf8'), { file, dir: EXAMPLES, env: {} }))
    .filter((config) => config.ok)
  assert.ok(loaded.length > 10, 'most examples need no files that a test makes')
  for (const { ir } of loaded) assert.deepEqual(irOfText(textOfIr(ir)), ir)
})

test('texts with anything in them come through', () => {
  const text = '"\\\u0000\u2028\ud800 \u{1f600}__proto__'
  const ir = { binds: [{ key: text, port: 1, address: '' }], listeners: [], routes: [], backends: [], policies: [] }
  assert.deepEqual(irOfText(textOfIr(ir)), ir)
})
