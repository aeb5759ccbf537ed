import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

export interface Import {
  /** Path below the root of the graph, or the name of a package or builtin. */
  to: string
  typeOnly: boolean
  /** The imported or exported names, as the other module calls them; empty for a dynamic import. */
  names: readonly string[]
  /** Whether the import is dynamic: the module is loaded when the call runs. */
  isDynamic: boolean
}

/** The imports of each source file, by its path below the root. */
export type ImportGraph = ReadonlyMap<string, readonly Import[]>

/** `readImportGraph` reads the sources below a folder; tests and what only tests use are left out. */
export function readImportGraph(root: string): ImportGraph {
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      /\.tsx?$/.test(file) &&
      !/\.test\.tsx?$|(^|\/)(testing|conformance|fuzz|fixtures)\/|\/test-[a-z]+\.ts$/.test(file),
  )
  return new Map(files.map((file) => [file, importsOf(root, file)]))
}

function importsOf(root: string, file: string): Import[] {
  const text = readFileSync(join(root, file), 'utf8')
  const statements = text.matchAll(/^(?:import|export)\s+(type\s+)?(?:([\w\s{},*$]+)\s+from\s+)?'([^']+)'/gm)
  const dynamic = text.matchAll(/\b(typeof )?(import)\('([^']+)'\)/g)
  const asImport =
    (isDynamic: boolean) =>
    ([, keyword, clause = '', specifier = '']: RegExpExecArray): Import => ({
      to: specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : specifier,
      typeOnly: keyword !== undefined,
      names: isDynamic ? [] : namesIn(clause),
      isDynamic,
    })
  return [...[...statements].map(asImport(false)), ...[...dynamic].map(asImport(true))]
}

function namesIn(clause: string): string[] {
  return clause
    .replaceAll(/[{}]/g, '')
    .split(',')
    .map((name) => /(?:type\s+)?([\w$*]+)/.exec(name.trim())?.[1] ?? '')
    .filter((name) => name !== '')
}
