// Bundles the programs: the gateway into two files, one for the main thread and one for workers; porticoctl into one
// and what it loads only for its terminal UI.
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

// Native code stays outside.
await bundle('gateway', { portico: 'src/process/start.ts', worker: 'src/process/worker.ts' }, ['@node-rs/bcrypt'])
// Asked for only where it is installed.
await bundle('ctl', { porticoctl: 'src/start.ts' }, ['react-devtools-core'])

/**
 * @param {string} name of the package
 * @param {Record<string, string>} input
 * @param {string[]} external modules that are not bundled
 */
async function bundle(name, input, external) {
  const folder = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url))
  await rm(`${folder}dist`, { recursive: true, force: true })
  const made = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([entry, path]) => [entry, `${folder}${path}`])),
    platform: 'node',
    resolve: { conditionNames: ['import', 'node'] },
    external,
  })
  await made.write({
    dir: `${folder}dist`,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    minify: false,
  })
  await made.close()
}
