import type { JsonObject } from '@portico/translate/json'

/** A map of a patch, split into its fields and its directives. */
interface PatchMap {
  how: 'merge' | 'replace' | 'delete'
  /** Fields to retain; null retains all. */
  retained: ReadonlySet<unknown> | null
  /** Values to remove from lists of scalars, by the name of the list. */
  removals: ReadonlyMap<string, readonly unknown[]>
  /** The order of lists, by the name of the list. */
  orders: ReadonlyMap<string, readonly unknown[]>
  fields: readonly (readonly [string, unknown])[]
}

const HOW = '$patch'
const RETAINED = '$retainKeys'
const REMOVAL = '$deleteFromPrimitiveList/'
const ORDER = '$setElementOrder/'

export function readPatchMap(patch: JsonObject, problem: (text: string) => void): PatchMap {
  const lists = (prefix: string): Map<string, readonly unknown[]> => {
    const named = Object.entries(patch).filter(([name]) => name.startsWith(prefix))
    return new Map(named.map(([name, value]) => [name.slice(prefix.length), listOf(name, value, problem)]))
  }
  const fields = Object.entries(patch).filter(([name]) => !name.startsWith('$'))
  for (const name of Object.keys(patch)) if (!isKnown(name)) problem(`unknown directive \`${name}\``)
  const retained = Object.hasOwn(patch, RETAINED) ? new Set(listOf(RETAINED, patch[RETAINED], problem)) : null
  for (const [name, value] of fields)
    if (retained !== null && value !== null && !retained.has(name))
      problem(`\`${name}\` is set, but missing in \`${RETAINED}\``)
  return { how: howOf(patch, problem), retained, removals: lists(REMOVAL), orders: lists(ORDER), fields }
}

/** The `$patch` directive; `merge` when there is none. */
export function howOf(patch: JsonObject, problem: (text: string) => void): PatchMap['how'] {
  if (!Object.hasOwn(patch, HOW)) return 'merge'
  const how = patch[HOW]
  if (how === 'merge' || how === 'replace' || how === 'delete') return how
  problem(`\`${HOW}\` is ${JSON.stringify(how)}, expected \`delete\`, \`replace\` or \`merge\``)
  return 'merge'
}

/** Whether the item is only `$patch: replace`, which replaces its list. */
export function isListReplaced(item: JsonObject): boolean {
  return item[HOW] === 'replace' && Object.keys(item).length === 1
}

function isKnown(name: string): boolean {
  return (
    !name.startsWith('$') ||
    name === HOW ||
    name === RETAINED ||
    [REMOVAL, ORDER].some((start) => name.startsWith(start))
  )
}

function listOf(name: string, value: unknown, problem: (text: string) => void): readonly unknown[] {
  if (Array.isArray(value)) return value
  problem(`\`${name}\` is not a list`)
  return []
}
