// Bundles the program into packages/gateway/dist: two files, one for the main thread and one for workers.
import { rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const gateway = fileURLToPath(new URL('../packages/gateway/', import.meta.url))
await rm(`${gateway}dist`, { recursive: true, force: true })
const bundle = await rolldown({
  input: { portico: `${gateway}src/start.ts`, worker: `${gateway}src/worker.ts` },
  platform: 'node',
  resolve: { conditionNames: ['import', 'node'] },
})
await bundle.write({
  dir: `${gateway}dist`,
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name]-[hash].js',
  minify: false,
})
await bundle.close()
