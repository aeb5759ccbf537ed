import { spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRecentEnough, pinnedNode } from '../../packages/gateway/bin/runtime.mjs'

const require = createRequire(import.meta.url)
const backend = { host: '127.0.0.1:9' }
const service = { backendRef: backend }
const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
const jwks = { inline: JSON.stringify({ keys: [key] }) }
/** Policies whose code is loaded only with a config that has them. */
const policies = {
  basicAuthentication: { users: ['a:{SHA}YWFhYWFhYWFhYWFhYWFhYWFhYWE='] },
  extAuth: { ...service, grpc: {} },
  extProc: service,
  jwtAuthentication: { providers: [{ issuer: 'a', jwks }] },
  rateLimit: { local: [{ requests: 1, unit: 'Seconds' }] },
}
/** The runs, the simplest first: a later run keeps the cached chunks of an earlier one. */
const RUNS = [
  { backends: [backend] },
  { backends: [backend], policies },
  { backends: [{ ai: { provider: { openai: {} } }, policies: { auth: { key: 'k' } } }] },
  { backends: [{ mcp: { targets: [{ name: 'a', static: { host: '127.0.0.1', port: 9 } }] } }] },
]

/**
 * Runs a built gateway briefly and stores the code that V8 compiled beside its chunks, so that later starts need not
 * compile it again. When the gateway cannot run here, later starts just take longer.
 *
 * @param {string} dir the folder of the program
 */
export async function compileAhead(dir) {
  const node = pinnedNode() ?? (isRecentEnough() ? process.execPath : null)
  if (node === null) return
  const folder = mkdtempSync(join(tmpdir(), 'portico-build-'))
  try {
    // Both modes run, because the main thread and worker threads load different chunks.
    for (const separateWorker of [false, true])
      for (const route of RUNS) await runOnce(node, dir, { folder, route, separateWorker })
    packStarts(dir)
  } catch (error) {
    process.stderr.write(`not compiled ahead: ${error.message}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Joins the code of the chunks of a plain start in one file for each kind of thread. */
function packStarts(dir) {
  const { packCode, START_PACK } = require(join(dir, 'program/load-chunk.js'))
  for (const kind of readdirSync(join(dir, 'code'))) {
    const folder = join(dir, 'code', kind)
    const order = join(folder, 'order.json')
    const names = JSON.parse(readFileSync(order, 'utf8'))
    const codeFile = (name) => join(folder, `${name}.bin`)
    const codeByChunk = new Map(names.map((name) => [name, readFileSync(codeFile(name))]))
    writeFileSync(join(folder, START_PACK), packCode(codeByChunk))
    for (const file of [order, ...names.map(codeFile)]) rmSync(file)
  }
}

function runOnce(node, dir, { folder, route, separateWorker }) {
  const any = '127.0.0.1:0'
  const settings = { workers: 1, separateWorker, session: { keyFile: 'key' } }
  const config = {
    config: { ...settings, adminAddr: any, statsAddr: any, readinessAddr: any },
    binds: [{ port: 0, listeners: [{ protocol: 'HTTP', routes: [route] }] }],
  }
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, JSON.stringify(config))
  writeFileSync(join(folder, 'key'), randomBytes(32).toString('hex'))
  const args = ['--require', join(import.meta.dirname, 'record-code.cjs'), join(dir, 'portico.js'), '-f', file]
  return new Promise((resolve, reject) => {
    // The environment of the builder is not passed on, because it may change what V8 compiles.
    const child = spawn(node, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { PATH: process.env.PATH } })
    let text = ''
    child.stderr.on('data', (chunk) => {
      text += chunk
      if (/^Portico .* is running/m.test(text)) child.kill('SIGTERM')
    })
    child.on('error', reject)
    child.on('exit', (code) => (code === 0 ? resolve() : reject(new Error(text.trim()))))
  })
}
