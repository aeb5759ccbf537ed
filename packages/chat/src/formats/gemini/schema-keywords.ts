import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../../middle.ts'
import type { SchemaReader } from './flatten-schema.ts'
import { type SchemaType, typeOfValue, valuesOf } from './schema-types.ts'

type Child = (schema: Json) => JsonObject

/** The keywords that Gemini takes for this type; the others are reported. */
export function keywordsOf(reader: SchemaReader, schema: JsonObject, type: SchemaType, child: Child): JsonObject {
  for (const key of Object.keys(schema)) if (!UNDERSTOOD.has(key)) reader.dropped.add(key)
  switch (type) {
    case 'string':
      return stringKeywords(reader, schema)
    case 'number':
    case 'integer':
      return { ...numberKeywords(reader, schema, type), ...valuesAsWords(reader, schema, type) }
    case 'boolean':
      return valuesAsWords(reader, schema, type)
    case 'array':
      return arrayKeywords(reader, schema, child)
    case 'object':
      return objectKeywords(reader, schema, child)
  }
}

function stringKeywords(reader: SchemaReader, schema: JsonObject): JsonObject {
  // An empty value is refused.
  const values = valuesOf(schema)?.filter((value) => typeof value === 'string' && value !== '') ?? []
  return {
    ...formatOf(reader, schema, STRING_FORMATS),
    ...(values.length > 0 && { enum: values }),
    ...countsIn(schema, 'minLength', 'maxLength'),
    ...(typeof schema['pattern'] === 'string' && { pattern: schema['pattern'] }),
  }
}

function numberKeywords(reader: SchemaReader, schema: JsonObject, type: SchemaType): JsonObject {
  // Between integers the next one is meant; between other numbers there is no next one.
  const step = type === 'integer' ? 1 : 0
  const minimum = numbersOf(schema['minimum'], plus(schema['exclusiveMinimum'], step))
  const maximum = numbersOf(schema['maximum'], plus(schema['exclusiveMaximum'], -step))
  return {
    ...formatOf(reader, schema, type === 'integer' ? INTEGER_FORMATS : NUMBER_FORMATS),
    ...(minimum.length > 0 && { minimum: Math.max(...minimum) }),
    ...(maximum.length > 0 && { maximum: Math.min(...maximum) }),
  }
}

/** Adds the allowed values to the description, because only strings may have an `enum`. */
function valuesAsWords(reader: SchemaReader, schema: JsonObject, type: SchemaType): JsonObject {
  const isOfType = (value: Json) => {
    const found = typeOfValue(value)
    return found === type || (type === 'number' && found === 'integer')
  }
  const values = valuesOf(schema)?.filter(isOfType) ?? []
  if (values.length === 0) return {}
  reader.dropped.add('enum')
  const words = `One of: ${values.map((value) => JSON.stringify(value)).join(', ')}`
  const { description } = schema
  return { description: typeof description === 'string' ? `${description}\n${words}` : words }
}

function arrayKeywords(reader: SchemaReader, schema: JsonObject, child: Child): JsonObject {
  const { items, prefixItems } = schema
  const places = [prefixItems, items].flatMap((list) => (Array.isArray(list) ? list : []))
  if (places.length > 0) reader.dropped.add('prefixItems')
  const rest = isObject(items) ? [items] : []
  return {
    // Gemini requires `items` in an array.
    items: places.length > 0 ? child({ anyOf: [...places, ...rest] }) : child(items ?? true),
    ...countsIn(schema, 'minItems', 'maxItems'),
  }
}

function objectKeywords(reader: SchemaReader, schema: JsonObject, child: Child): JsonObject {
  const { properties, required } = schema
  if (!isObject(properties)) return {}
  const allowed = Object.entries(properties).filter(([, inner]) => inner !== false)
  const made = Object.fromEntries(allowed.map(([name, inner]) => [name, child(inner)]))
  const names = Object.keys(made)
  const demanded = Array.isArray(required) ? new Set(required) : new Set()
  // A property that is demanded and not described is refused.
  const known = names.filter((name) => demanded.has(name))
  return {
    properties: made,
    ...(known.length > 0 && { required: known }),
    ...(reader.isOrdered && names.length > 1 && { propertyOrdering: names }),
  }
}

function formatOf(reader: SchemaReader, { format }: JsonObject, allowed: ReadonlySet<Json>): JsonObject {
  if (format === undefined) return {}
  if (allowed.has(format)) return { format }
  reader.dropped.add('format')
  return {}
}

function countsIn(schema: JsonObject, ...names: string[]): JsonObject {
  const counts = names.map((name): [string, Json] => [name, schema[name] ?? null])
  return Object.fromEntries(counts.filter(([, count]) => Number.isSafeInteger(count) && Number(count) >= 0))
}

function numbersOf(...values: (Json | undefined)[]): number[] {
  return values.filter((value) => typeof value === 'number')
}

function plus(value: Json | undefined, step: number): Json | undefined {
  return typeof value === 'number' ? value + step : value
}

const STRING_FORMATS: ReadonlySet<Json> = new Set(['enum', 'date-time'])
const INTEGER_FORMATS: ReadonlySet<Json> = new Set(['int32', 'int64'])
const NUMBER_FORMATS: ReadonlySet<Json> = new Set(['float', 'double'])

/** Carried over, or without a meaning for the model. */
const UNDERSTOOD: ReadonlySet<string> = new Set([
  ...['type', 'nullable', 'title', 'description', 'format', 'enum', 'const', 'anyOf', 'oneOf'],
  ...['properties', 'required', 'items', 'prefixItems', 'minItems', 'maxItems', 'minLength', 'maxLength', 'pattern'],
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'],
  ...['$schema', '$id', '$comment', '$defs', 'definitions', 'examples', 'example', 'strict'],
])
