import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Script } from 'node:vm'
import { chunkLoader } from './load-chunk.ts'

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

test('a chunk can import packages, and fails with its own name in the stack', async (t) => {
  const { folder, code } = useChunks(t, {
    'a.js': `exports.later = () => import('node:path')\nexports.fail = () => { throw new Error('here') }`,
  })
  const made = chunkLoader(folder, code)('a.js') as { later: () => Promise<{ sep: string }>; fail: () => void }
  assert.equal((await made.later()).sep, '/')
  assert.throws(made.fail, (error: Error) => error.stack?.includes(`${join(folder, 'a.js')}:2:`) === true)
})
