import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../../middle.ts'

/** The state of reading a JSON Schema: the root that references point into, and the remaining budget. */
export interface SchemaReader {
  root: JsonObject
  /** Roughly characters. References can make a short schema enormous, so all schemas of a request share one budget. */
  budget: { left: number }
  /** Keywords that Gemini does not support. */
  dropped: Set<string>
  /** Whether objects list the order in which their properties are written. */
  isOrdered: boolean
}

interface FlatSchema {
  /** Without `$ref` and `allOf`. */
  schema: JsonObject
  /** References already followed; following one of them again would never end. */
  refs: readonly string[]
}

/** Merges the target of `$ref` and all schemas of `allOf` into one schema. The first schema wins in a conflict. */
export function flattenSchema(
  reader: SchemaReader,
  schema: JsonObject,
  refs: readonly string[],
  depth = 0,
): FlatSchema {
  const { $ref, allOf, ...own } = schema
  let flat: FlatSchema = { schema: own, refs }
  if ($ref === undefined && allOf === undefined) return flat
  if (!spend(reader, 0, depth)) return flat
  if (typeof $ref === 'string') flat = add(reader, flat, referred(reader, $ref, refs, depth))
  for (const part of Array.isArray(allOf) ? allOf : []) {
    if (isObject(part)) flat = add(reader, flat, flattenSchema(reader, part, refs, depth + 1))
  }
  return flat
}

/**
 * Takes the cost of a schema from the budget. Returns false, and reports the loss, when the schema is too large or too
 * deep.
 */
export function spend(reader: SchemaReader, cost: number, depth: number): boolean {
  reader.budget.left -= cost + COST_OF_SCHEMA
  if (reader.budget.left >= 0 && depth <= MAX_DEPTH) return true
  reader.dropped.add('parts that are too large or too deep')
  return false
}

const COST_OF_SCHEMA = 16
const MAX_DEPTH = 48

function referred(reader: SchemaReader, ref: string, refs: readonly string[], depth: number): FlatSchema {
  const target = ref.startsWith('#') ? pointedAt(reader.root, ref.slice(1)) : undefined
  if (target === undefined) {
    reader.dropped.add('$ref')
    return { schema: {}, refs }
  }
  if (!refs.includes(ref)) return flattenSchema(reader, target, [...refs, ref], depth + 1)
  reader.dropped.add('recursive $ref')
  return { schema: withoutMembers(target), refs }
}

/** The type and description of a schema, without its members. */
function withoutMembers({ type, description }: JsonObject): JsonObject {
  return { type: type ?? 'object', ...(description !== undefined && { description }) }
}

function pointedAt(root: JsonObject, pointer: string): JsonObject | undefined {
  if (pointer !== '' && !pointer.startsWith('/')) return undefined
  let at: Json | undefined = root
  for (const step of pointer.split('/').slice(1)) {
    const key = unescaped(step)
    if (Array.isArray(at)) at = at[Number(key)]
    else at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined
  }
  return isObject(at) ? at : undefined
}

function unescaped(step: string): string {
  let text = step
  try {
    text = decodeURIComponent(step)
  } catch {
    // The text is not URI-escaped.
  }
  return text.replaceAll('~1', '/').replaceAll('~0', '~')
}

function add(reader: SchemaReader, flat: FlatSchema, more: FlatSchema): FlatSchema {
  const [one, other] = [flat.schema, more.schema]
  const size =
    sizeOf(one['properties']) + sizeOf(other['properties']) + sizeOf(one['required']) + sizeOf(other['required'])
  if (!spend(reader, size, 0)) return flat
  const schema = { ...other, ...one }
  const properties = bothProperties(one['properties'], other['properties'])
  if (properties !== undefined) schema['properties'] = properties
  const required = [one['required'], other['required']].flatMap((list) => (Array.isArray(list) ? list : []))
  if (required.length > 0) schema['required'] = [...new Set(required)]
  return { schema, refs: [...new Set([...flat.refs, ...more.refs])] }
}

function sizeOf(value: Json | undefined): number {
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0
}

function bothProperties(one: Json | undefined, other: Json | undefined): Json | undefined {
  if (!isObject(one) || !isObject(other)) return one ?? other
  const added = Object.entries(other).map(([name, schema]): [string, Json] => {
    const first = Object.hasOwn(one, name) ? one[name] : undefined
    return [name, first === undefined ? schema : { allOf: [first, schema] }]
  })
  return Object.fromEntries([...Object.entries(one), ...added])
}
