// Packs the programs of this checkout and installs them into an empty folder, as users without a checkout do.
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The folder is outside /tmp, because containers of the e2e cluster have their own, and outside the checkout, whose
 * `node_modules` would be found.
 */
const SHARED = existsSync('/var/tmp') ? '/var/tmp' : tmpdir()

/**
 * Installs the programs, and the packages of `more` in the versions of this checkout. Returns the folder, which the caller
 * removes.
 */
export function installPacked(more = []) {
  const folder = mkdtempSync(join(SHARED, 'portico-installed-'))
  chmodSync(folder, 0o755)
  execFileSync(process.execPath, [join(root, 'scripts/package/pack.mjs')], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const packed = readdirSync(join(root, 'out')).filter((name) => name.endsWith('.tgz'))
  const tarballs = packed.map((name) => join(root, 'out', name))
  const options = { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, PATH: foreignPath() } }
  const others = more.map((name) => `${name}@${installedVersion(name)}`)
  execFileSync('npm', ['install', '--ignore-scripts', '--prefer-offline', ...tarballs, ...others], options)
  return folder
}

function installedVersion(name) {
  return JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version
}

/** The search path without this project's own Node, which npm puts first and which has no npm. */
export function foreignPath() {
  const own = (folder) => folder.startsWith(root) || folder === dirname(process.execPath)
  return (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !own(folder))
    .join(delimiter)
}
