// Prints the software bill of materials of a package in CycloneDX: `node scripts/package/sbom.mjs gateway`.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { foreignPath } from './install-packed.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

/**
 * The list that npm makes, about the package in place of the workspace. Equal inputs give equal bytes: the list has no
 * time and no serial number.
 *
 * @param {'gateway' | 'ctl' | 'controller'} name of the package
 */
export function sbom(name) {
  const { name: packageName, version } = JSON.parse(readFileSync(`${root}packages/${name}/package.json`, 'utf8'))
  // Bundled packages are development dependencies, which npm omits when NODE_ENV is `production`.
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--include', 'dev', '--workspace', packageName]
  const env = { ...process.env, PATH: foreignPath() }
  const listed = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', env, maxBuffer: 1 << 26 }))
  const { serialNumber: _serial, metadata, ...rest } = listed
  const { timestamp: _time, component: _workspace, ...made } = metadata
  const component = { type: 'application', name: packageName, version, 'bom-ref': `${packageName}@${version}` }
  return `${JSON.stringify({ ...rest, metadata: { ...made, component } }, null, 2)}\n`
}

const [only] = process.argv.slice(2)
if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(sbom(only))
