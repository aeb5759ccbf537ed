// Packs the programs for users without a checkout: `out/*.tgz`, each with its bill of materials inside and beside it.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildUi } from './build-ui.mjs'
import { bundle } from './bundle.mjs'
import { foreignPath } from './install-packed.mjs'
import { programs } from './programs.mjs'
import { sbom } from './sbom.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const out = join(root, 'out')

rmSync(out, { recursive: true, force: true })
mkdirSync(out)
for (const name of Object.keys(programs)) {
  const folder = join(root, 'packages', name)
  await bundle(name, new URL(`../packages/${name}/dist/`, import.meta.url))
  if (name === 'gateway') await buildUi(new URL('../packages/gateway/dist/ui/', import.meta.url))
  const staged = join(out, name)
  for (const part of ['bin', 'dist', 'README.md']) cpSync(join(folder, part), join(staged, part), { recursive: true })
  cpSync(join(root, 'packages/gateway/bin/runtime.mjs'), join(staged, 'bin/runtime.mjs'))
  cpSync(join(root, 'LICENSE'), join(staged, 'LICENSE'))
  cpSync(join(folder, 'dist/NOTICE'), join(staged, 'NOTICE'))
  rmSync(join(staged, 'dist/NOTICE'))
  const parts = sbom(name)
  writeFileSync(join(staged, 'sbom.cdx.json'), parts)
  // Bundled packages are not dependencies of the packed package.
  const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  // Exports for other packages of this workspace are sources, which are not packed.
  manifest.exports = { './package.json': './package.json' }
  manifest.files = [...manifest.files, 'sbom.cdx.json']
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', out], staged))
  writeFileSync(join(out, filename.replace(/\.tgz$/, '.sbom.json')), parts)
  rmSync(staged, { recursive: true })
  process.stdout.write(`${join('out', filename)}\n`)
}

/** Runs the npm of the user's Node; the pinned Node has none. */
function npm(args, cwd) {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', env: { ...process.env, PATH: foreignPath() } })
}
