import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CompletionContext } from '@codemirror/autocomplete'
import { EditorState } from '@codemirror/state'
import { completeConfig } from './complete-config.ts'
import type { JsonSchema } from './schema-walk.ts'

const schema = JSON.parse(
  readFileSync(new URL('../../../../schema/config.json', import.meta.url), 'utf8'),
) as JsonSchema

function offered(text: string, explicit = true): string[] {
  const context = new CompletionContext(EditorState.create({ doc: text }), text.length, explicit)
  return completeConfig(schema)(context)?.options.map(({ label }) => label) ?? []
}

test('keys and words come from the schema of the config', () => {
  assert.deepEqual(offered(''), ['config', 'frontend', 'backends', 'policies', 'binds', 'llm'])
  assert.ok(offered('binds:\n- port: 80\n  ').includes('listeners'))
  assert.ok(!offered('binds:\n- port: 80\n  ').includes('port'), 'what is there already is not offered')
  assert.deepEqual(offered('config:\n  logging:\n    format: '), ['text', 'json'])
  assert.deepEqual(offered('config: { ui: { edit: '), ['true', 'false'])
  const route = 'binds:\n- port: 80\n  listeners:\n  - routes:\n    - policies:\n        '
  assert.ok(['cors', 'rateLimit', 'directResponse'].every((name) => offered(route).includes(name)))
  assert.ok(offered(`${route}rateLimit:\n          local:\n          - `).includes('requests'))
  assert.deepEqual(offered('nowhere:\n  at:\n    '), [])
  assert.deepEqual(offered('', false), [], 'nothing pops up before something is written')
})
