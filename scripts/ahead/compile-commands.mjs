import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRecentEnough, pinnedNode } from '../../packages/gateway/bin/runtime.mjs'

const backend = { host: '127.0.0.1:9' }
const policies = {
  authorization: { rules: [{ deny: 'request.path.startsWith("/admin")' }] },
  headerModifiers: { request: { set: [{ name: 'x-a', value: 'b' }] } },
  urlRewrite: { path: { prefix: '/' } },
}
const world = { upstreams: { '*': { body: 'ok' } } }
const tests = [
  { name: 'passes', send: 'GET /a', expect: { status: 200, route: 'a', upstream: { path: '/a' } } },
  { name: 'is denied', send: 'GET /admin', expect: { status: 403, by: 'authorization', rule: 1 } },
]
const record = {
  ...{ id: '000000000000001', at: 0, method: 'GET', host: 'a.test', path: '/admin', version: 'HTTP/1.1' },
  ...{ scheme: 'http', source: '127.0.0.1:1000', outcome: 'passed', status: 200, attempts: 1, bytesIn: 0 },
  ...{ route: 'a', backend: '127.0.0.1:9', endpoint: '127.0.0.1:9', requestHeaders: {} },
  keys: { bind: null, listener: null, route: null },
}
/** The files of the runs. */
const FILES = {
  'old.json': configOf({ name: 'a', backends: [backend] }),
  'new.json': configOf({ name: 'a', backends: [backend], policies }),
  'records.jsonl': record,
  'a.test.yaml': { config: 'new.json', world, tests },
}
/** The commands whose code is compiled ahead; the code of a chunk is that of the first command that loads the chunk. */
const RUNS = [
  ['test', 'a.test.yaml'],
  ['backtest', '-f', 'new.json', '--before', 'old.json', '--records', 'records.jsonl'],
]

function configOf(route) {
  return { binds: [{ port: 8080, listeners: [{ protocol: 'HTTP', routes: [route] }] }] }
}

/**
 * Runs commands of a built porticoctl and stores the code that V8 compiled beside the chunks, so that later runs need not
 * compile it again. When porticoctl cannot run here, later runs just take longer.
 *
 * @param {string} dir the folder of the program
 */
export async function compileCommands(dir) {
  const node = pinnedNode() ?? (isRecentEnough() ? process.execPath : null)
  if (node === null) return
  const folder = mkdtempSync(join(tmpdir(), 'portico-build-'))
  try {
    for (const [file, value] of Object.entries(FILES)) writeFileSync(join(folder, file), JSON.stringify(value))
    for (const args of RUNS) await runOnce(node, dir, { folder, args })
    // The order of the chunks is for a pack, which commands have none of: they load different chunks.
    for (const kind of readdirSync(join(dir, 'code'))) rmSync(join(dir, 'code', kind, 'order.json'))
  } catch (error) {
    process.stderr.write(`not compiled ahead: ${error.message}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runOnce(node, dir, { folder, args }) {
  const recorder = join(import.meta.dirname, 'record-code.cjs')
  return new Promise((resolve, reject) => {
    // The environment of the builder is not passed on, because it may change what V8 compiles.
    const child = spawn(node, ['--require', recorder, join(dir, 'porticoctl.js'), ...args], {
      ...{ cwd: folder, env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'pipe'] },
    })
    let text = ''
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => (text += chunk))
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(text.trim()))))
  })
}
