import { isObject } from '@portico/http/json'
import type { Document } from 'yaml'
import { type Path, printPath } from '../../schema/problem.ts'
import { unwrapLists } from '../../schema/unwrap-singletons.ts'
import { findReferences, isTo } from '../../sources/check/references.ts'
import { configFile } from '../../sources/schema.ts'
import { Spot } from '../../sources/check/tree.ts'
import { offsetOf } from '../../sources/yaml/yaml.ts'
import type { RefusedEdit } from '../../admin/config-edit-view.ts'
import { AlignedTrees } from './aligned-trees.ts'
import { positionAt } from './edited-text.ts'
import { parseText } from './yaml-leaves.ts'

/**
 * `refusedEdits` returns the edits that need write access to the file itself: programs, file names, environment variables
 * and process settings. The values of both texts are compared, with aliases and merges resolved. Both texts are valid YAML.
 */
export function refusedEdits(before: string, after: string): RefusedEdit[] {
  const [old, edited] = [read(before), read(after)]
  const aligned = new AlignedTrees(old.tree, edited.tree, true)
  const known = new Map(keptParts(old.tree).map((part) => [`${part.kind} ${JSON.stringify(part.path)}`, part.text]))
  const isNew = ({ kind, path, text }: KeptPart): boolean => {
    const origin = aligned.origin(path)
    return origin === null || known.get(`${kind} ${JSON.stringify(origin)}`) !== text
  }
  const refused = keptParts(edited.tree).filter(isNew)
  const hasOtherConfig = printValue(configOf(old.tree)) !== printValue(configOf(edited.tree))
  if (hasOtherConfig) refused.unshift({ kind: 'config', path: ['config'], text: '' })
  return outermost(refused).map(({ kind, path }) => {
    const { line, column } = positionAt(after, offsetOf(edited.document, path, 'key'))
    return { kind, path: printPath(path), line, column, text: PHRASES[kind] }
  })
}

const PHRASES: Readonly<Record<RefusedEdit['kind'], string>> = {
  stdio: 'a program that the gateway starts cannot be added or changed here',
  file: 'the name of a file, folder or socket cannot be added or changed here',
  variable: 'a variable of the environment cannot be added or changed here',
  config: 'the `config` block cannot be changed here',
}

function read(text: string): { document: Document; tree: unknown } {
  const document = parseText(text)
  const tree: unknown = document.toJS({ maxAliasCount: 1_000 }) ?? {}
  unwrapLists(configFile, tree)
  return { document, tree }
}

function configOf(tree: unknown): unknown {
  return isObject(tree) ? (tree['config'] ?? {}) : {}
}

interface KeptPart {
  kind: RefusedEdit['kind']
  path: Path
  /** The value as a text, to compare it. */
  text: string
}

function keptParts(tree: unknown): KeptPart[] {
  const rest = isObject(tree) ? { ...tree, config: {} } : tree
  const parts: KeptPart[] = []
  const walk = (value: unknown, path: Path): void => {
    const kind = kindOf(value, path)
    if (kind !== null) parts.push({ kind, path, text: printValue(value) })
    if (kind === 'stdio' || typeof value !== 'object' || value === null) return
    for (const [key, child] of Object.entries(value)) walk(child, [...path, Array.isArray(value) ? Number(key) : key])
  }
  walk(rest, [])
  return [...parts, ...referencesIn(rest)]
}

/** The kind of a protected value by its form, whatever its path. */
function kindOf(value: unknown, path: Path): KeptPart['kind'] | null {
  const key = path.at(-1)
  if (key === 'stdio') return 'stdio'
  if (typeof value !== 'string') return null
  if (value.replaceAll('$${', ' ').includes('${')) return 'variable'
  return key === 'unixPath' || key === 'folder' || key === 'file' || /^unix:/i.test(value) ? 'file' : null
}

/** The protected values by the schema of the config file. */
function referencesIn(tree: unknown): KeptPart[] {
  return findReferences(configFile, new Spot(tree))
    .filter(isTo('contents'))
    .flatMap(({ spot, refers }) => {
      const location = refers.locate(spot.value)
      if (location === null || 'text' in location) return []
      return [
        { kind: 'file' in location ? 'file' : 'variable', path: spot.path, text: printValue(spot.value) } as const,
      ]
    })
}

function printValue(value: unknown): string {
  return typeof value === 'string' ? `text ${value}` : (JSON.stringify(value) ?? '')
}

/** The outermost of the parts that are rejected for the same reason. */
function outermost(parts: readonly KeptPart[]): KeptPart[] {
  const seen = new Set<string>()
  return parts
    .toSorted((a, b) => a.path.length - b.path.length)
    .filter(({ kind, path }) => {
      const isInside = path.some((_, length) => seen.has(`${kind} ${JSON.stringify(path.slice(0, length + 1))}`))
      if (!isInside) seen.add(`${kind} ${JSON.stringify(path)}`)
      return !isInside
    })
}
