// Starts a program under a Node that is recent enough. It must itself run on any Node from 20 on. The other packages with a
// program have a file of this name that re-exports this one; `scripts/package/pack.mjs` replaces it with a copy.
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

/**
 * Returns the module to run. A packed package contains the bundle but no sources; a checkout bundles its sources when they
 * changed, and runs them directly when that fails.
 */
export async function programUrl({ folder, name, file, source }) {
  const sourceUrl = new URL(source, folder)
  if (!existsSync(sourceUrl)) return new URL(`dist/${file}`, folder)
  const { freshProgram } = await import(new URL('../../../scripts/fresh-program.mjs', import.meta.url).href)
  const built = freshProgram(name)
  return built === null ? sourceUrl : pathToFileURL(join(built, file))
}

/**
 * The Node that is installed with the project, or null when there is none: `npm run pack` makes a package of it for users, and
 * a checkout has the package that it is made from.
 */
export function pinnedNode() {
  const platform = `${process.platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  // npm packages of Node.js have different names: the package for Apple silicon begins with `node-bin`.
  for (const name of [`@portico/node-${platform}`, `node-${platform}`, `node-bin-${platform}`]) {
    try {
      const program = join(dirname(require.resolve(`${name}/package.json`)), 'bin', 'node')
      if (existsSync(program)) return program
    } catch {
      // The package is not installed.
    }
  }
  return null
}

/**
 * Runs a script again under the pinned Node, and exits like it. A terminal, a service manager or a container may send a
 * signal to both processes; `endSignal` is the signal that the child gets from this process, so that it can tell them apart.
 */
export function runPinned(script, args, { endSignal = null } = {}) {
  const program = pinnedNode()
  if (program === null) {
    const [needed, running] = [NEEDED.join('.'), process.versions.node]
    process.stderr.write(
      `this needs Node ${needed} or newer, or the package @portico/node-${process.platform}-${process.arch}; Node ${running} is running it\n`,
    )
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
