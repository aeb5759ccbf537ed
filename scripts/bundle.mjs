import { mkdir, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { asChunks } from './chunk-text.mjs'
import { compileAhead } from './ahead/compile-ahead.mjs'
import { compileCommands } from './ahead/compile-commands.mjs'
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
  const { input, external, threads, modules = {} } = programs[name]
  const folder = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url))
  const dir = fileURLToPath(to)
  await rm(dir, { recursive: true, force: true })
  const rolled = (entries, plugins) =>
    rolldown({
      input: Object.fromEntries(Object.entries(entries).map(([entry, path]) => [entry, join(folder, path)])),
      platform: 'node',
      resolve: { conditionNames: ['import', 'node'] },
      external,
      plugins,
      // No other chunk loads an entry for the code in it, because an entry starts its program.
      preserveEntrySignatures: 'strict',
    })
  const names = { entryFileNames: '[name].js', chunkFileNames, minify: false }
  const ids = []
  for (const [entry, path] of Object.entries(modules)) {
    const made = await rolled({ [entry]: path }, [])
    const { output } = await made.write({ ...names, dir: join(dir, entry), format: 'esm' })
    await made.close()
    await writeFile(join(dir, entry, 'package.json'), '{ "type": "module" }\n')
    ids.push(...moduleIdsOf(output))
  }
  const plugins = [...(name === 'gateway' ? [withoutDescriptions] : []), apart(folder, modules)]
  const made = await rolled(input, plugins)
  const { output } =
    threads.length === 0
      ? await made.write({ ...names, dir, format: 'esm' })
      : await made.generate({ ...names, format: 'cjs', comments: false, codeSplitting: { groups: laterGroups() } })
  await made.close()
  if (threads.length > 0) await writeThreads(name, dir, output)
  await writeFile(join(dir, 'NOTICE'), notice([...new Set([...moduleIdsOf(output), ...ids])]))
}

function moduleIdsOf(output) {
  return output.flatMap((chunk) => ('moduleIds' in chunk ? chunk.moduleIds : []))
}

/** Leaves the imports of modules that are bundled apart, as ES modules in a folder beside the program. */
function apart(folder, modules) {
  const entries = new Map(Object.entries(modules).map(([entry, path]) => [join(folder, path), entry]))
  return {
    name: 'apart',
    resolveId(specifier, importer) {
      const entry = importer === undefined ? undefined : entries.get(join(dirname(importer), specifier))
      return entry === undefined ? null : { id: `../${entry}/${entry}.js`, external: true }
    },
  }
}

/**
 * Writes the chunks as CommonJS, a start script for each thread, and the compile cache. Importing a builtin as an ES module
 * reads all of its exports, and those of `node:http` load a whole HTTP client.
 */
async function writeThreads(name, dir, output) {
  const { threads } = programs[name]
  const program = join(dir, 'program')
  await mkdir(program, { recursive: true })
  const codeByFile = new Map(output.flatMap((chunk) => ('code' in chunk ? [[chunk.fileName, chunk.code]] : [])))
  const later = output.flatMap((chunk) => (laterPackages.includes(chunk.name) ? [chunk.fileName] : []))
  for (const [file, text] of asChunks(codeByFile, new Set(later))) await writeFile(join(program, file), text)
  await writeFile(join(dir, 'package.json'), '{ "type": "commonjs" }\n')
  for (const thread of threads) {
    await writeFile(join(dir, `${thread}.js`), startOf(thread, thread === threads[0] ? 'main' : 'worker'))
  }
  await (name === 'ctl' ? compileCommands(dir) : compileAhead(dir))
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
