// Packs the programs for users without a checkout: `out/*.tgz`, each with its bill of materials inside and beside it, and the
// Node of this platform once for all of them. Users whose own Node is recent enough do not need that package.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildUi } from '../build-ui.mjs'
import { bundle } from '../bundle.mjs'
import { foreignPath } from './install-packed.mjs'
import { programs } from '../programs.mjs'
import { sbom } from './sbom.mjs'
import { trimElf } from './trim-elf.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const out = join(root, 'out')

rmSync(out, { recursive: true, force: true })
mkdirSync(out)
for (const name of Object.keys(programs)) {
  const folder = join(root, 'packages', name)
  await bundle(name, new URL(`../../packages/${name}/dist/`, import.meta.url))
  if (name === 'gateway') await buildUi(new URL('../../packages/gateway/dist/ui/', import.meta.url))
  const staged = join(out, name)
  for (const part of ['bin', 'dist', 'README.md']) cpSync(join(folder, part), join(staged, part), { recursive: true })
  cpSync(join(root, 'packages/gateway/bin/runtime.mjs'), join(staged, 'bin/runtime.mjs'))
  cpSync(join(root, 'LICENSE'), join(staged, 'LICENSE'))
  cpSync(join(folder, 'dist/NOTICE'), join(staged, 'NOTICE'))
  rmSync(join(staged, 'dist/NOTICE'))
  const parts = sbom(name)
  writeFileSync(join(staged, 'sbom.cdx.json'), parts)
  // Bundled packages are not dependencies of the packed package, and the runtime is a package of its own.
  const {
    devDependencies: _,
    optionalDependencies: __,
    ...manifest
  } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  // Exports for other packages of this workspace are sources, which are not packed.
  manifest.exports = { './package.json': './package.json' }
  manifest.files = [...manifest.files, 'sbom.cdx.json']
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  writeFileSync(join(out, packed(staged).replace(/\.tgz$/, '.sbom.json')), parts)
}
packNode()

/** Packs the Node that `npm ci` installed, without its headers and without symbols for debuggers. */
function packNode() {
  const platform = `${process.platform}-${process.arch}`
  const names = [`node-${platform}`, `node-bin-${platform}`]
  const source = names.map((name) => join(root, 'node_modules', name)).find((folder) => existsSync(folder))
  if (source === undefined) throw new Error(`npm ci installed no Node for ${platform}`)
  const staged = join(out, 'node')
  mkdirSync(join(staged, 'bin'), { recursive: true })
  const program = readFileSync(join(source, 'bin/node'))
  writeFileSync(join(staged, 'bin/node'), isElf(program) ? trimElf(program) : program, { mode: 0o755 })
  cpSync(join(source, 'LICENSE'), join(staged, 'LICENSE'))
  const { version } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'))
  const manifest = {
    name: `@portico/node-${platform}`,
    version,
    description: 'The Node that runs the programs of Portico where the installed one is too old',
    license: 'MIT',
    os: [process.platform],
    cpu: [process.arch],
    files: ['bin/node', 'LICENSE'],
  }
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  packed(staged)
}

/** Whether a program is an ELF file of Linux; programs of other systems are packed unchanged. */
function isElf(program) {
  return program.subarray(0, 4).toString('latin1') === '\x7fELF'
}

/** Packs a folder, removes it, and returns the name of the file. */
function packed(staged) {
  const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', out], staged))
  rmSync(staged, { recursive: true })
  process.stdout.write(`${join('out', filename)}\n`)
  return filename
}

/** Runs the npm of the user's Node; the pinned Node has none. */
function npm(args, cwd) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', env: { ...process.env, PATH: foreignPath() } })
}
