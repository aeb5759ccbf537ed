import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isRecentEnough, pinnedNode } from '../packages/gateway/bin/runtime.mjs'

const backend = { host: '127.0.0.1:9' }
/** What is run, the plainest first: chunks of a later one that an earlier one has had are left as they are. */
const RUNS = [
  [backend],
  [{ ai: { provider: { openai: {} } }, policies: { auth: { key: 'k' } } }],
  [{ mcp: { targets: [{ name: 'a', static: { host: '127.0.0.1', port: 9 } }] } }],
]

/**
 * Runs a built gateway for a moment and puts what V8 has compiled of it beside its chunks, so that starts need not
 * compile it again. Without a Node to run it, or where no port can be opened, starts just take longer.
 *
 * @param {string} dir with the program
 */
export async function compileAhead(dir) {
  const node = pinnedNode() ?? (isRecentEnough() ? process.execPath : null)
  if (node === null) return
  const folder = mkdtempSync(join(tmpdir(), 'portico-build-'))
  try {
    for (const backends of RUNS) await runOnce(node, dir, { folder, backends })
  } catch (error) {
    process.stderr.write(`not compiled ahead: ${error.message}\n`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function runOnce(node, dir, { folder, backends }) {
  const any = '127.0.0.1:0'
  const config = {
    config: { workers: 1, adminAddr: any, statsAddr: any, readinessAddr: any, session: { keyFile: 'key' } },
    binds: [{ port: 0, listeners: [{ protocol: 'HTTP', routes: [{ backends }] }] }],
  }
  const file = join(folder, 'gateway.yaml')
  writeFileSync(file, JSON.stringify(config))
  writeFileSync(join(folder, 'key'), randomBytes(32).toString('hex'))
  const args = ['--require', join(import.meta.dirname, 'record-code.cjs'), join(dir, 'portico.js'), '-f', file]
  return new Promise((resolve, reject) => {
    // Nothing of the builder's own settings: they may change what V8 compiles.
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
