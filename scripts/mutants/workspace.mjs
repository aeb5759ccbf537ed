// The packages of the tree, and the files that imports of them lead to.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The imports that are there at run time: `import type` and `export type` are erased. */
const IMPORT =
  /(?:^|[\s;])(?:import|export)(?!\s+type\s)(?:\s+[\w$*{][^'";]*?\sfrom)?\s*'([^']+)'|\bimport\(\s*'([^']+)'/g

export class Workspace {
  #root
  /** Folder and exports of each package, by its name. */
  #packages = new Map()

  constructor(root) {
    this.#root = root
    for (const name of readdirSync(join(root, 'packages'))) {
      const manifest = join(root, 'packages', name, 'package.json')
      if (!existsSync(manifest)) continue
      const { name: known, exports = {} } = JSON.parse(readFileSync(manifest, 'utf8'))
      this.#packages.set(known, { folder: `packages/${name}`, exports })
    }
  }

  /** The name of each package with its folder, relative to the root. */
  get folders() {
    return [...this.#packages].map(([name, { folder }]) => [name, folder])
  }

  /** The files of the tree that a file imports, relative to the root. */
  importsOf(file) {
    const path = join(this.#root, file)
    if (!existsSync(path)) return []
    const specifiers = [...readFileSync(path, 'utf8').matchAll(IMPORT)].map(([, named, lazy]) => named ?? lazy)
    return [...new Set(specifiers.flatMap((specifier) => this.#fileOf(specifier, file) ?? []))]
  }

  #fileOf(specifier, importer) {
    if (specifier.startsWith('.')) return join(dirname(importer), specifier)
    const [, name, entry] = /^(@[^/]+\/[^/]+|[^/]+)(\/.+)?$/.exec(specifier) ?? []
    const known = this.#packages.get(name)
    const target = known === undefined ? undefined : targetOf(known.exports, `.${entry ?? ''}`)
    return target === undefined ? undefined : join(known.folder, target)
  }
}

/** The file of an entry, as `exports` of a manifest names it: by the entry itself, or by a pattern with one `*`. */
function targetOf(exports, entry) {
  if (typeof exports === 'string') return entry === '.' ? exports : undefined
  if (exports[entry] !== undefined) return exports[entry]
  for (const [pattern, target] of Object.entries(exports)) {
    const [head, tail] = pattern.split('*')
    if (tail === undefined || !entry.startsWith(head) || !entry.endsWith(tail)) continue
    return target.replace('*', entry.slice(head.length, entry.length - tail.length))
  }
  return undefined
}
