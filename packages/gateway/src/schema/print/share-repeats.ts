import type { Json, JsonObject } from '../kit.ts'

/** The same schema with repeated parts moved to `$defs`, because blocks of policies recur. */
export function shareRepeats(root: JsonObject): JsonObject {
  const countsByText = new Map<string, number>()
  count(root)
  const namesByText = new Map<string, string>()
  const definitions: JsonObject = {}
  const shared = Object.fromEntries(Object.entries(root).map(([key, value]) => [key, replaceIn(value)]))
  return namesByText.size === 0 ? root : { ...shared, $defs: definitions }

  /** Counts every object that is large enough, and descends only into the first of equal objects. */
  function count(node: Json): void {
    if (typeof node !== 'object' || node === null) return
    if (Array.isArray(node)) return node.forEach(count)
    if (isSchema(node)) {
      const text = JSON.stringify(node)
      if (text.length < SMALL) return
      const before = countsByText.get(text) ?? 0
      countsByText.set(text, before + 1)
      if (before > 0) return
    }
    Object.values(node).forEach(count)
  }

  function replaceIn(node: Json): Json {
    if (typeof node !== 'object' || node === null) return node
    if (Array.isArray(node)) return node.map(replaceIn)
    const text = isSchema(node) ? JSON.stringify(node) : ''
    if ((countsByText.get(text) ?? 0) < 2) return inside(node)
    let name = namesByText.get(text)
    if (name === undefined) {
      name = `d${namesByText.size + 1}`
      namesByText.set(text, name)
      definitions[name] = inside(node)
    }
    return { $ref: `#/$defs/${name}` }
  }

  function inside(node: JsonObject): JsonObject {
    return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, replaceIn(value)]))
  }
}

/** Not the mapping of names to properties, which may have a property of any name. */
function isSchema(node: JsonObject): boolean {
  return typeof node['type'] === 'string' && ('properties' in node || 'items' in node || 'additionalProperties' in node)
}

const SMALL = 400
