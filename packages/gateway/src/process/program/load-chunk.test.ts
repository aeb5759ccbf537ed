import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Script } from 'node:vm'
import { chunkLoader, packCode, START_PACK } from './load-chunk.ts'

const wrapped = (text: string): string => `(function (exports, require, module, __filename) {${text}\n})`

function useChunks(t: TestContext, chunks: Record<string, string>): { folder: string; code: string } {
  const root = mkdtempSync(join(tmpdir(), 'portico-chunks-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [folder, code] = [join(root, 'program'), join(root, 'code')]
  mkdirSync(folder)
  mkdirSync(code)
  for (const [name, text] of Object.entries(chunks)) writeFileSync(join(folder, name), text)
  return { folder, code }
}

test('chunks load one another once, and builtins', (t) => {
  const { folder, code } = useChunks(t, {
    'a.js': `exports.b = require('./b.js'); exports.file = __filename; exports.sep = require('node:path').sep`,
    'b.js': `globalThis.loads = (globalThis.loads ?? 0) + 1; module.exports = { loads: globalThis.loads }`,
  })
  const load = chunkLoader(folder, code)
  assert.deepEqual(load('a.js'), { b: { loads: 1 }, file: join(folder, 'a.js'), sep: '/' })
  assert.equal((load('a.js') as { b: object }).b, load('b.js'))
})

test('code that was compiled before is taken, and code that does not fit is not', (t) => {
  const text = 'exports.answer = () => 42'
  const { folder, code } = useChunks(t, { 'a.js': text, 'b.js': text, 'c.js': `${text} + 1` })
  const compiled = new Script(wrapped(text)).createCachedData()
  writeFileSync(join(code, 'a.js.bin'), compiled)
  writeFileSync(join(code, 'b.js.bin'), 'anything')
  writeFileSync(join(code, 'c.js.bin'), compiled)
  const load = chunkLoader(folder, code)
  const answers = ['a.js', 'b.js', 'c.js'].map((name) => (load(name) as { answer: () => number }).answer())
  assert.deepEqual(answers, [42, 42, 43])
})

test('code of the start pack is taken, and code that does not fit is not', (t) => {
  const text = 'exports.answer = () => 42'
  const { folder, code } = useChunks(t, {
    'a.js': text,
    'b.js': `exports.a = require('./a.js'); exports.c = require('./c.js')`,
    'c.js': `${text} + 1`,
  })
  const a = new Script(wrapped(text)).createCachedData()
  writeFileSync(
    join(code, START_PACK),
    packCode(new Map(Object.entries({ 'a.js': a, 'c.js': Buffer.from('anything') }))),
  )
  const loaded = chunkLoader(folder, code)('b.js') as Record<'a' | 'c', { answer: () => number }>
  assert.deepEqual([loaded.a.answer(), loaded.c.answer()], [42, 43])
})

test('code of the start pack begins where V8 does not have to copy it', () => {
  for (let length = 0; length < 9; length++) {
    const code = Buffer.alloc(length, 1)
    const pack = packCode(new Map(['a.js', 'b.js'].map((name) => [name, code])))
    const begin = pack.indexOf('\n') + 1
    const index = JSON.parse(pack.toString('latin1', 0, begin)) as [string, number, number][]
    assert.equal(begin % 8, 0)
    for (const [, from, to] of index) {
      assert.equal(from % 8, 0)
      assert.deepEqual(pack.subarray(begin + from, begin + to), code)
    }
    assert.equal(index.length, 2)
  }
})

test('a chunk can import packages, and fails with its own name in the stack', async (t) => {
  const { folder, code } = useChunks(t, {
    'a.js': `exports.later = () => import('node:path')\nexports.fail = () => { throw new Error('here') }`,
  })
  const made = chunkLoader(folder, code)('a.js') as { later: () => Promise<{ sep: string }>; fail: () => void }
  assert.equal((await made.later()).sep, '/')
  assert.throws(made.fail, (error: Error) => error.stack?.includes(`${join(folder, 'a.js')}:2:`) === true)
})
