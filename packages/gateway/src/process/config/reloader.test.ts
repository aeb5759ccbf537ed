import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { test, type TestContext } from 'node:test'
import type { LoadedConfig } from '../../sources/file.ts'
import { watchConfig } from '../../sources/files/watch.ts'
import { eventually, useConfigFile } from '../../testing/process.ts'
import type { Gateway } from './gateway.ts'
import { Reloader } from './reloader.ts'

test('a text that waited for its turn goes live as it was when it had settled', async (t) => {
  const { file, reloader, loads, applied } = scene(t)
  let seen: string | null = null
  // Made after that of the reloader, so it is told after it.
  const watch = watchConfig(file, (text) => {
    seen = text
    if (text === 'three\n') writeFileSync(file, 'ha')
  })
  t.after(() => watch.close())
  writeFileSync(file, 'two\n')
  await eventually('the first text is loaded', () => applied.length === 1)
  writeFileSync(file, 'three\n')
  await eventually('the second text has settled', () => seen === 'three\n')
  applied[0]!([])
  await eventually('the second text is loaded', () => loads.length === 2)
  assert.deepEqual(loads, ['two\n', 'three\n'])
  applied[1]!([])
  reloader.close()
})

test('a reload that is asked for while a text waits to be applied takes nothing from it', async (t) => {
  const { file, reloader, loads, applied } = scene(t)
  reloader.reload()
  await eventually('it runs', () => applied.length === 1)
  const put = reloader.put({
    text: 'mine\n',
    write: () => (writeFileSync(file, 'mine\n'), true),
    takeBack: assert.fail,
  })
  reloader.reload()
  applied[0]!([])
  await eventually('the text is loaded', () => applied.length === 2)
  applied[1]!([])
  assert.deepEqual([await put, loads], [[], [undefined, 'mine\n']])
})

test('a text that cannot go live is taken back before anybody reads it again', async (t) => {
  const { file, reloader, loads, applied } = scene(t, () => readFileSync(file, 'utf8'))
  const put = reloader.put({
    text: 'mine\n',
    write: () => (writeFileSync(file, 'mine\n'), true),
    takeBack() {
      writeFileSync(file, 'one\n')
      reloader.expect('one\n')
    },
  })
  await eventually('it runs', () => applied.length === 1)
  reloader.reload()
  applied[0]!(['no'])
  assert.deepEqual(await put, ['no'])
  await eventually('the reload runs', () => applied.length === 2)
  assert.deepEqual(loads, ['mine\n', 'one\n'])
  applied[1]!([])
})

test('a text that somebody else writes replaces a waiting text, and nothing is written during shutdown', async (t) => {
  const { file, reloader, applied } = scene(t)
  reloader.reload()
  await eventually('it runs', () => applied.length === 1)
  const write = (): boolean => (writeFileSync(file, 'mine\n'), true)
  const put = reloader.put({ text: 'mine\n', write, takeBack: assert.fail })
  writeFileSync(file, 'theirs\n')
  assert.equal(await put, 'overtaken')
  assert.equal(await reloader.put({ text: 'mine\n', write: () => false, takeBack: assert.fail }), 'overtaken')
  const last = reloader.put({ text: 'mine\n', write, takeBack: assert.fail })
  reloader.close()
  assert.equal(await last, 'ending')
  writeFileSync(file, 'theirs\n')
  assert.equal(await reloader.put({ text: 'mine\n', write, takeBack: assert.fail }), 'ending')
  assert.equal(readFileSync(file, 'utf8'), 'theirs\n')
})

/** A reloader whose configs go live when the test says so; `read` is what a source reads that is given no text. */
function scene(t: TestContext, read: () => string | undefined = () => undefined) {
  const { file } = useConfigFile(t, 'one\n')
  const loads: (string | undefined)[] = []
  const loaded = { ok: true, process: {}, files: [], warnings: [] } as unknown as LoadedConfig
  const load = async (text?: string): Promise<LoadedConfig> => (loads.push(text ?? read()), loaded)
  const applied: ((problems: string[]) => void)[] = []
  const gateway = { generation: 1, apply: () => new Promise<string[]>((done) => applied.push(done)) }
  const reloader = new Reloader({ name: file, path: file, guide: null, load })
  t.after(() => reloader.close())
  const silent = { error() {}, warn() {} }
  reloader.start(gateway as unknown as Gateway, silent as unknown as Parameters<Reloader['start']>[1])
  return { file, reloader, loads, applied }
}
