// Peers from npm that are not dependencies of this project: the first run that needs one installs it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'

const INSTALL_MS = 120_000
const peersFolder = join(import.meta.dirname, '../.run/peers')

/**
 * @param {{ name: string, packages: string[], program: string }} what `program` is a file within the folder it is installed in
 * @returns {string | null} the folder, or null when it cannot be had
 */
export function installedFolder({ name, packages, program }) {
  const folder = join(peersFolder, name)
  if (!existsSync(join(folder, program))) install(name, folder, packages)
  return existsSync(join(folder, program)) ? folder : null
}

function install(name, folder, packages) {
  mkdirSync(folder, { recursive: true })
  const flags = ['--prefix', folder, '--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
  const { status, error, stderr } = spawnSync('npm', ['install', ...flags, ...packages], {
    cwd: folder,
    encoding: 'utf8',
    timeout: INSTALL_MS,
  })
  if (status === 0) return
  const why = error?.message ?? stderr.trim().split('\n').at(-1)
  process.stderr.write(`${name} could not be installed: ${why}\n`)
}
