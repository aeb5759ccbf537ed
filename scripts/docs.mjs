// Builds the pages of docs/ as a site into site/dist: `npm run docs`. `npm run docs:dev` serves them while you write.
// VitePress has a lockfile of its own in site/, so that `npm ci` does not bring it; it is installed when it is first needed.
//   DOCS_BASE        path of the site on its server (/)
//   DOCS_VERSION     a release: builds into a folder of that name, for the switch of versions
//   DOCS_SOURCE_URL  where files of the tree can be read, such as a code host's …/blob/main
//   DOCS_EDIT_URL    where pages can be edited, such as a code host's …/edit/main
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isRecentEnough, runPinned } from '../packages/gateway/bin/runtime.mjs'
import { foreignPath } from './package/install-packed.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const site = join(root, 'site')
const dist = join(site, 'dist')
const FOLLOW_MS = 500

if (!isRecentEnough()) runPinned(fileURLToPath(import.meta.url), process.argv.slice(2))
else await main(process.argv[2] ?? 'build')

async function main(command) {
  if (command !== 'build' && command !== 'dev') {
    process.stderr.write(`unknown command ${command}: \`npm run docs\` builds, \`npm run docs:dev\` serves\n`)
    process.exitCode = 2
    return
  }
  install()
  const { stageSite, lastChange } = await import('../site/stage.ts')
  const { builtVersions, releasesOfTree } = await import('../site/versions.ts')
  const { DOCS_VERSION: version, DOCS_SOURCE_URL, DOCS_EDIT_URL } = process.env
  const releases = releasesOfTree()
  if (version && !releases.includes(version)) {
    process.stderr.write(`DOCS_VERSION=${version} is not among the releases of CHANGELOG.md: ${releases.join(', ')}\n`)
    process.exitCode = 2
    return
  }
  const siteRoot = `/${(process.env.DOCS_BASE ?? '').replaceAll(/^\/+|\/+$/g, '')}/`.replace('//', '/')
  const base = version ? `${siteRoot}${version}/` : siteRoot
  const folder = join(site, '.pages')
  const stage = () =>
    stageSite({ folder, base, sourceUrl: DOCS_SOURCE_URL ?? null, editUrl: DOCS_EDIT_URL ?? null }).length
  const build = join(site, '.build')
  Object.assign(process.env, {
    DOCS_PAGES: folder,
    DOCS_BUILD: build,
    DOCS_SITE_ROOT: siteRoot,
    DOCS_SITE_BASE: base,
    DOCS_SITE_VERSION: version ?? 'next',
  })
  const pages = stage()
  // From elsewhere VitePress links its Vue into the node_modules of the folder that it is run in.
  process.chdir(site)
  const vitepress = await import('../site/node_modules/vitepress/dist/node/index.js')
  if (command === 'dev') {
    const server = await vitepress.createServer(site)
    await server.listen()
    server.printUrls()
    let seen = lastChange()
    setInterval(() => {
      if (lastChange() <= seen) return
      seen = lastChange()
      stage()
    }, FOLLOW_MS)
    return
  }
  await vitepress.build(site)
  publish(build, version ?? '', releases)
  writeFileSync(join(dist, 'versions.json'), `${JSON.stringify(builtVersions(dist, releases), null, 2)}\n`)
  rmSync(build, { recursive: true, force: true })
  process.stdout.write(`${pages} pages are in ${join('site/dist', version ?? '')}\n`)
}

/** Puts a build in its place; that of the newest sources leaves the folders of releases alone. */
function publish(build, version, releases) {
  const folder = join(dist, version)
  mkdirSync(folder, { recursive: true })
  for (const name of readdirSync(folder)) {
    if (version === '' && (releases.includes(name) || name === 'versions.json')) continue
    rmSync(join(folder, name), { recursive: true, force: true })
  }
  cpSync(build, folder, { recursive: true })
}

/** Again when the lockfile is another than the one that was installed. */
function install() {
  const installed = join(site, 'node_modules/.installed-lock.json')
  const lock = readFileSync(join(site, 'package-lock.json'), 'utf8')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return
  const { version } = JSON.parse(lock).packages['node_modules/vitepress']
  process.stdout.write(`installing VitePress ${version} into site/node_modules\n`)
  execFileSync('npm', ['ci', '--ignore-scripts', '--no-fund', '--no-audit'], {
    cwd: site,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, PATH: foreignPath() },
  })
  writeFileSync(installed, lock)
}
