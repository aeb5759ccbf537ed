import { readdirSync, readFileSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { programs } from './programs.mjs'

/**
 * Bundles one package, with a NOTICE of everything that is inside.
 *
 * @param {keyof typeof programs} name of the package
 * @param {URL} to the folder for the result, which is made anew
 */
export async function bundle(name, to) {
  const { input, external } = programs[name]
  const folder = fileURLToPath(new URL(`../packages/${name}/`, import.meta.url))
  const dir = fileURLToPath(to)
  await rm(dir, { recursive: true, force: true })
  const made = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([entry, path]) => [entry, join(folder, path)])),
    platform: 'node',
    resolve: { conditionNames: ['import', 'node'] },
    external,
  })
  const { output } = await made.write({
    dir,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    minify: false,
  })
  await made.close()
  await writeFile(join(dir, 'NOTICE'), notice(output.flatMap((chunk) => ('moduleIds' in chunk ? chunk.moduleIds : []))))
}

/** Name, version, licence and its text of every package that the modules come from. */
function notice(modules) {
  const folders = new Set(modules.map(packageFolder).filter((folder) => folder !== null))
  const entries = [...folders].map(describePackage).toSorted((a, b) => (a < b ? -1 : 1))
  return `This program contains the packages below, each under its own licence.\n\n${entries.join('\n')}`
}

/** The innermost package of `node_modules` that a module is of, or null for a module of this project. */
function packageFolder(module) {
  return /^\0?(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module)?.[1] ?? null
}

function describePackage(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((entry) => /^licen[cs]e(\.(md|txt))?$/i.test(entry))
  const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
  return `${'-'.repeat(80)}\n${name} ${version} (${license})\n${text}`
}
