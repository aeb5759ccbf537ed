import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { asChunks } from './chunk-text.mjs'
import { compileAhead } from './compile-ahead.mjs'
import { notice } from './package/notice.mjs'
import { laterPackages, programs } from './programs.mjs'
import { withoutDescriptions } from './without-descriptions.mjs'

/**
 * Bundles one package, with a NOTICE of everything that is inside.
 *
 * @param {keyof typeof programs} name of the package
 * @param {URL} to the folder for the result; its old content is removed
 */
export async function bundle(name, to) {
  const { input, external, threads } = programs[name]
  const folder = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url))
  const dir = fileURLToPath(to)
  await rm(dir, { recursive: true, force: true })
  const made = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([entry, path]) => [entry, join(folder, path)])),
    platform: 'node',
    resolve: { conditionNames: ['import', 'node'] },
    external,
    plugins: threads.length === 0 ? [] : [withoutDescriptions],
  })
  const names = { entryFileNames: '[name].js', chunkFileNames, minify: false }
  const { output } =
    threads.length === 0
      ? await made.write({ ...names, dir, format: 'esm' })
      : await made.generate({ ...names, format: 'cjs', comments: false, codeSplitting: { groups: laterGroups() } })
  await made.close()
  if (threads.length > 0) await writeThreads(dir, output, threads)
  await writeFile(join(dir, 'NOTICE'), notice(output.flatMap((chunk) => ('moduleIds' in chunk ? chunk.moduleIds : []))))
}

/**
 * Writes the chunks as CommonJS, a start script for each thread, and the compile cache. Importing a builtin as an ES module
 * reads all of its exports, and those of `node:http` load a whole HTTP client.
 */
async function writeThreads(dir, output, threads) {
  const program = join(dir, 'program')
  await mkdir(program, { recursive: true })
  const codeByFile = new Map(output.flatMap((chunk) => ('code' in chunk ? [[chunk.fileName, chunk.code]] : [])))
  const later = output.flatMap((chunk) => (laterPackages.includes(chunk.name) ? [chunk.fileName] : []))
  for (const [file, text] of asChunks(codeByFile, new Set(later))) await writeFile(join(program, file), text)
  await writeFile(join(dir, 'package.json'), '{ "type": "commonjs" }\n')
  for (const name of threads) {
    await writeFile(join(dir, `${name}.js`), startOf(name, name === threads[0] ? 'main' : 'worker'))
  }
  await compileAhead(dir)
}

function startOf(name, thread) {
  return `const { chunkLoader, codeFolder } = require('./program/load-chunk.js')
const folder = __dirname + '/program'
chunkLoader(folder, codeFolder(folder, '${thread}'))('${name}.js')
`
}

/** Every policy is a `step.ts`, so its chunk is named after the folder. */
function chunkFileNames({ name, facadeModuleId }) {
  const folder = name === 'step' ? (facadeModuleId ?? '').split('/').at(-2) : undefined
  return `${folder ?? '[name]'}-[hash].js`
}

/** One chunk for each package that is loaded lazily. */
function laterGroups() {
  return laterPackages.map((name) => ({ name, test: new RegExp(`/node_modules/${name}/`) }))
}
