// Runs on any Node from 20 on, so it uses only what that one has. Each package that has a program has this file.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const NEEDED = [24, 15]

/** Whether the running Node can run the program itself. */
export function isRecentEnough(version = process.versions.node) {
  const [major, minor] = version.split('.').map(Number)
  return major > NEEDED[0] || (major === NEEDED[0] && minor >= NEEDED[1])
}

/** Where the program is: a package has it built, a checkout builds it when its sources have changed, or runs them. */
export async function programUrl(name, file, source) {
  const built = new URL(`../dist/${file}`, import.meta.url)
  if (!existsSync(source)) return built
  const { freshProgram } = await import(new URL('../../../scripts/fresh-program.mjs', import.meta.url).href)
  const folder = freshProgram(name)
  return folder === null ? source : pathToFileURL(join(folder, file))
}

/** The Node that is installed with the project, or null on a platform it does not come for. */
export function pinnedNode() {
  try {
    const require = createRequire(import.meta.url)
    const manifest = require.resolve(`node-${process.platform}-${process.arch}/package.json`)
    const program = join(dirname(manifest), 'bin', 'node')
    return existsSync(program) ? program : null
  } catch {
    return null
  }
}

/**
 * Starts a script again under the pinned Node and takes over its end. A terminal, a service manager or a container may
 * send a signal to both processes: with an `endSignal` of its own, the script can tell the two.
 */
export function runPinned(script, args, { endSignal = null } = {}) {
  const program = pinnedNode()
  if (program === null) {
    process.stderr.write(`this needs Node ${NEEDED.join('.')} or newer; ${process.versions.node} is running it\n`)
    process.exit(1)
  }
  const child = spawn(program, [script, ...args], { stdio: 'inherit' })
  let last = null
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.on(signal, () => {
      last = signal
      child.kill(endSignal ?? signal)
    })
  }
  process.on('SIGHUP', () => child.kill('SIGHUP'))
  child.on('error', (error) => {
    process.stderr.write(`${program}: ${error.message}\n`)
    process.exit(1)
  })
  child.on('exit', (code, signal) => {
    if (signal === null) process.exit(code ?? 1)
    const cause = signal === endSignal ? (last ?? signal) : signal
    process.removeAllListeners(cause)
    process.kill(process.pid, cause)
  })
}
