// Lists exports that no other file imports, and fails when there is one: `npm run exports`, a part of `npm run check`.
// `npm run exports -- packages/ui e2e` lists those below some folders. The list comes from the texts of import and export
// statements: names of a module that another file imports as a whole (`import * as`, `import()`) count as used, and so do
// the names that CONTRIBUTING.md imports.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

const FOLDERS = ['packages', 'e2e', 'bench', 'scripts', 'site']
/**
 * Generated messages, declarations of modules in JavaScript, tests, which contain texts of other modules, and the loader of
 * chunks, which `ahead/record-code.cjs` requires in its built form.
 */
const EXEMPT = /^packages\/gateway\/src\/(protos\/|process\/program\/load-chunk\.ts$)|\.d\.mts$|\.test\.\w+$/

const IMPORT = /^\s*(?:import|export)\s+(?:type\s+)?(\{[^}]*\}|\*(?:\s+as\s+[\w$]+)?)\s*from\s*['"]([^'"]+)['"]/gm
const WHOLE = /\bimport\(\s*['"]([^'"]+)['"]/g
const EXPORT = /^export (?:abstract |async )*(?:function\*?|class|const|let|interface|type) ([\w$]+)/gm

/**
 * The unused exports below some folders, as `path: name`.
 *
 * @param {string} root of the tree
 * @param {readonly string[]} folders relative to the root, with slashes
 */
export function unusedExports(root, folders) {
  const entries = entryFiles(root)
  const skip = (path) => /(^|\/)(node_modules|dist|out)(\/|$)/.test(path)
  const files = globSync(`{${FOLDERS.join(',')}}/**/*.{ts,tsx,mts,mjs,vue}`, { cwd: root }).filter(
    (file) => !skip(file),
  )
  const texts = new Map(files.map((file) => [file, readFileSync(join(root, file), 'utf8')]))
  const namesByFile = new Map()
  const wholeFiles = new Set(entries.values())
  for (const [file, text] of texts) {
    const resolve = (specifier) =>
      specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : entries.get(specifier)
    for (const [, specifier] of text.matchAll(WHOLE)) wholeFiles.add(resolve(specifier))
    for (const [, list, specifier] of text.matchAll(IMPORT)) {
      const target = resolve(specifier)
      if (list.startsWith('*')) wholeFiles.add(target)
      else namesByFile.set(target, [...(namesByFile.get(target) ?? []), ...importedNames(list)])
    }
  }
  const page = readFileSync(join(root, 'CONTRIBUTING.md'), 'utf8')
  const inExamples = new Set([...page.matchAll(IMPORT)].flatMap(([, list]) => importedNames(list)))
  return files
    .filter((file) => folders.some((folder) => file.startsWith(`${folder}/`)))
    .filter((file) => !wholeFiles.has(file) && !EXEMPT.test(file))
    .flatMap((file) => {
      const used = new Set(namesByFile.get(file))
      const names = [...texts.get(file).matchAll(EXPORT)].map(([, name]) => name)
      return names.filter((name) => !used.has(name) && !inExamples.has(name)).map((name) => `${file}: ${name}`)
    })
    .toSorted()
}

function importedNames(list) {
  const names = list.replace(/[{}]/g, '').split(',')
  return names.map((name) =>
    name
      .trim()
      .replace(/^type\s+/, '')
      .replace(/\s+as\s[^]*$/, ''),
  )
}

/** The file behind each entry of the packages, by the name that imports use. */
function entryFiles(root) {
  const manifests = globSync('packages/*/package.json', { cwd: root })
  return new Map(
    manifests.flatMap((manifest) => {
      const { name, exports = {} } = JSON.parse(readFileSync(join(root, manifest), 'utf8'))
      const paths = Object.entries(exports).filter(([, path]) => typeof path === 'string')
      return paths.map(([entry, path]) => [name + entry.slice(1), join(dirname(manifest), path)])
    }),
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const wanted = process.argv.slice(2)
  const found = unusedExports(fileURLToPath(new URL('..', import.meta.url)), wanted.length > 0 ? wanted : FOLDERS)
  for (const line of found) console.error(line)
  if (found.length > 0) {
    console.error(`${found.length} exports that nobody imports: remove the word \`export\`, or the code`)
    process.exitCode = 1
  }
}
