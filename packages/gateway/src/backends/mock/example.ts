import { isObject, type Json, type JsonObject } from '@portico/http/json'

/** A small value that fits a JSON Schema as far as its types, lists of values and required members go. */
export function exampleOf(schema: JsonObject, depth = 0): Json {
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum) && schema.enum[0] !== undefined) return schema.enum[0]
  const [option] = [schema.anyOf, schema.oneOf].flatMap((options) => (Array.isArray(options) ? options : []))
  if (isObject(option) && depth < MAX_DEPTH) return exampleOf(option, depth + 1)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  if (type === 'string') return 'mock'
  if (type === 'integer' || type === 'number') return typeof schema.minimum === 'number' ? schema.minimum : 1
  if (type === 'boolean') return true
  if (type === 'null') return null
  return type === 'array' ? exampleList(schema, depth) : exampleObject(schema, depth)
}

/** Schemas of clients may be endless. */
const MAX_DEPTH = 16
const MAX_ITEMS = 16

function exampleList({ items, minItems }: JsonObject, depth: number): Json[] {
  if (depth >= MAX_DEPTH || !isObject(items)) return []
  const count = typeof minItems === 'number' ? Math.min(minItems, MAX_ITEMS) : 1
  return Array.from({ length: count }, () => exampleOf(items, depth + 1))
}

function exampleObject({ properties, required }: JsonObject, depth: number): JsonObject {
  if (depth >= MAX_DEPTH || !isObject(properties)) return {}
  const members = Object.entries(properties).filter(([name]) => !Array.isArray(required) || required.includes(name))
  return Object.fromEntries(
    members.flatMap(([name, schema]) => (isObject(schema) ? [[name, exampleOf(schema, depth + 1)]] : [])),
  )
}
