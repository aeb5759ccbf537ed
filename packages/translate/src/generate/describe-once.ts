import type { JsonObject } from '@portico/gateway/schema'

/** Parts with fewer descriptions inside are left as they are, because a reference would hardly be shorter. */
const FEWEST = 3

/**
 * Returns the schema with each part described once, at the occurrence nearest to the root; repeated parts refer to that
 * one. The definition of a kind must fit into an annotation, and repeated descriptions would fill most of it.
 */
export function describeOnce(schema: JsonObject): JsonObject {
  const root = structuredClone(schema)
  const pathByPart = new Map<string, string>()
  let level: [path: string, part: JsonObject][] = [['', root]]
  while (level.length > 0) {
    level = level.flatMap(([path, part]) => {
      const { description, ...rest } = part
      const inner = JSON.stringify(rest)
      const first = pathByPart.get(inner)
      if (inner.split('"description":').length - 1 < FEWEST) return []
      if (first === undefined) {
        pathByPart.set(inner, path)
        return partsOf(path, part)
      }
      for (const [, child] of partsOf(path, part)) strip(child)
      const own = typeof description === 'string' ? `${description} ` : ''
      part['description'] = `${own}See \`${first}\`.`
      return []
    })
  }
  return root
}

function strip(part: JsonObject): void {
  delete part['description']
  for (const [, child] of partsOf('', part)) strip(child)
}

function partsOf(path: string, part: JsonObject): [path: string, part: JsonObject][] {
  const properties = Object.entries((part['properties'] ?? {}) as Record<string, JsonObject>)
  const fields = properties.map(([name, child]): [string, JsonObject] => [
    path === '' ? name : `${path}.${name}`,
    child,
  ])
  const item = (part['items'] ?? part['additionalProperties']) as JsonObject | undefined
  return item === undefined ? fields : [...fields, [`${path}[]`, item]]
}
