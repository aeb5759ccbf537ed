import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../../../middle.ts'
import { inCamelCase } from './spelling.ts'

/**
 * Converts Google's dialect of OpenAPI schemas to JSON Schema: types in lower case, `nullable` as a type, counts as
 * numbers. A schema that is JSON Schema already stays as it is.
 */
export function toJsonSchema(schema: JsonObject, depth = 0): JsonObject {
  if (depth > MAX_DEPTH) return {}
  const { nullable, propertyOrdering: _order, example, ...members } = camelCased(schema)
  const child = (value: Json): Json => (isObject(value) ? toJsonSchema(value, depth + 1) : value)
  const converted: JsonObject = {}
  for (const [name, value] of Object.entries(members)) converted[name] = keyword(name, value, child)
  if (example !== undefined) converted.examples = [example]
  return nullable === true ? orNull(converted) : converted
}

function camelCased(schema: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(schema).map(([name, value]) => [inCamelCase(name), value]))
}

function keyword(name: string, value: Json, child: (value: Json) => Json): Json {
  if (name === 'type') return typeof value === 'string' ? value.toLowerCase() : value
  if (COUNTS.has(name)) return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value
  if (NAMED.has(name) && isObject(value)) {
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, child(inner)]))
  }
  if (!NESTED.has(name)) return value
  return Array.isArray(value) ? value.map(child) : child(value)
}

function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] }
  return { ...schema, type: [type, 'null'], ...(Array.isArray(values) && { enum: [...values, null] }) }
}

/** Google writes these as texts, because they are 64 bits long. */
const COUNTS: ReadonlySet<string> = new Set([
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
])
const NAMED: ReadonlySet<string> = new Set(['properties', '$defs', 'defs', 'definitions'])
const NESTED: ReadonlySet<string> = new Set([
  'items',
  'prefixItems',
  'anyOf',
  'oneOf',
  'allOf',
  'additionalProperties',
  'not',
])
const MAX_DEPTH = 100
