// Builds the web UI: one page, and chunks that it loads on demand. Nothing is loaded from other hosts at run time.
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'
import { notice } from './package/notice.mjs'

/** @param {URL} to the folder for the result; its old content is removed */
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
      // An inlined asset would be a `data:` URL, which the page may not load.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      target: 'baseline-widely-available',
      // These versions support `light-dark()`.
      cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
      reportCompressedSize: false,
      // Libraries mark modules that must not run on a server; there is no server here.
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

/** The JSON Schema of the config, for the editor of the UI: the same that other editors get. */
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
