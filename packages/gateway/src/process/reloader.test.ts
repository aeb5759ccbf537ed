import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { test } from 'node:test'
import type { LoadedConfig } from '../sources/file.ts'
import { watchConfig } from '../sources/watch.ts'
import { eventually, useConfigFile } from '../testing/process.ts'
import type { Gateway } from './gateway.ts'
import { Reloader } from './reloader.ts'

test('a text that waited for its turn goes live as it was when it had settled', async (t) => {
  const { file } = useConfigFile(t, 'one\n')
  const loads: (string | undefined)[] = []
  const loaded = { ok: true, process: {}, files: [], warnings: [] } as unknown as LoadedConfig
  const source = { name: file, path: file, guide: null, load: async (text?: string) => (loads.push(text), loaded) }
  const applied: (() => void)[] = []
  const gateway = { generation: 1, apply: () => new Promise<string[]>((done) => applied.push(() => done([]))) }
  const reloader = new Reloader(source, file)
  let seen: string | null = null
  // Made after that of the reloader, so it is told after it.
  const watch = watchConfig(file, (text) => {
    seen = text
    if (text === 'three\n') writeFileSync(file, 'ha')
  })
  t.after(() => (reloader.close(), watch.close()))
  const silent = { error() {}, warn() {} }
  reloader.start(gateway as unknown as Gateway, silent as unknown as Parameters<Reloader['start']>[1])
  writeFileSync(file, 'two\n')
  await eventually('the first text is loaded', () => applied.length === 1)
  writeFileSync(file, 'three\n')
  await eventually('the second text has settled', () => seen === 'three\n')
  applied[0]!()
  await eventually('the second text is loaded', () => loads.length === 2)
  assert.deepEqual(loads, ['two\n', 'three\n'])
  applied[1]!()
})
