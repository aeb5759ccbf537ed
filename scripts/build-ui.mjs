// Builds the web UI: one page, and what it loads when something is opened. Nothing of it comes from elsewhere at run time.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { notice } from './notice.mjs'

/** @param {URL} to the folder for the result, which is made anew */
export async function buildUi(to) {
  const outDir = fileURLToPath(to)
  const modules = []
  await build({
    configFile: false,
    root: fileURLToPath(new URL('../packages/ui/', import.meta.url)),
    base: '/ui/',
    logLevel: 'warn',
    build: {
      outDir,
      emptyOutDir: true,
      // What is inlined would be a `data:` address, which the page may not load.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: 'baseline-widely-available',
      // They have `light-dark()`.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      reportCompressedSize: false,
      // Libraries mark what must not run on a server, which there is none of here.
      rolldownOptions: {
        output: { chunkFileNames: ({ name }) => `assets/${name.replaceAll('.', '-')}-[hash].js` },
        onLog: (level, log, report) => void (log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log)),
      },
    },
    plugins: [
      configSchema,
      { name: 'modules', generateBundle: (_options, bundle) => void modules.push(...modulesOf(bundle)) },
    ],
  })
  await writeFile(join(outDir, 'NOTICE'), notice(modules))
}

/** The schema of the config, for those who write one: the same that editors elsewhere are given. */
const configSchema = {
  name: 'config-schema',
  resolveId: (id) => (id === 'virtual:config-schema' ? '\0config-schema' : null),
  async load(id) {
    if (id !== '\0config-schema') return null
    const text = await readFile(new URL('../schema/config.json', import.meta.url), 'utf8')
    return `export default JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(text)))})`
  },
}

function modulesOf(bundle) {
  return Object.values(bundle).flatMap((chunk) => chunk.moduleIds ?? [])
}
