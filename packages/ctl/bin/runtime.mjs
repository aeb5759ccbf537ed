// Runs on any Node from 20 on, so it uses only what that one has. The gateway is published alone and has its own copy.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const NEEDED = [24, 15]

/** Whether the running Node can run the program itself. */
export function isRecentEnough(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

/** Starts a script again under the Node that is installed with the project, and takes over its end. */
export function runPinned(script, args) {
  const program = pinnedNode()
  if (program === null) {
    process.stderr.write(`this needs Node ${NEEDED.join('.')} or newer; ${process.versions.node} is running it\n`)
    process.exit(1)
  }
  const child = spawn(program, [script, ...args], { stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => {
    process.stderr.write(`${program}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    process.removeAllListeners(signal)
    process.kill(process.pid, signal)
  })
}

/** Null on a platform that it does not come for. */
function pinnedNode() {
  try {
    const require = createRequire(import.meta.url)
    const manifest = require.resolve(`node-${process.platform}-${process.arch}/package.json`)
    const program = join(dirname(manifest), 'bin', 'node')
    return existsSync(program) ? program : null
  } catch {
    return null
  }
}
