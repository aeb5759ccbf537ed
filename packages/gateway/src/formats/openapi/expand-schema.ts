import type { Json, JsonObject } from '../../schema/kit.ts'
import { isObject, type OpenApiDocument } from './document.ts'

/** Where the schema stands, and what for. */
export interface SchemaUse {
  /** Names the operation, in faults. */
  where: string
  /** What only answers have is left out. */
  isSent: boolean
}

/**
 * A schema as JSON Schema without references, for readers that follow none. One that holds itself cannot be written out:
 * where it comes round, anything goes.
 */
export function expandSchema(schema: Json | undefined, document: OpenApiDocument, use: SchemaUse): Json {
  let left = MOST_VALUES
  const open = new Set<string>()
  return expand(schema ?? {}, 0)

  function expand(value: Json, depth: number): Json {
    if (!isObject(value)) return value === false ? false : {}
    if (--left < 0 || --document.budget < 0 || depth > MOST_LEVELS) {
      document.fault(`${use.where}: a schema that is too large, or too deep, once its references are filled in`)
      return {}
    }
    const { $ref: reference, ...rest } = value
    if (typeof reference === 'string') return follow(reference, rest, depth)
    if ('$dynamicRef' in value || '$recursiveRef' in value) {
      document.fault(`${use.where}: a schema with \`$dynamicRef\` or \`$recursiveRef\``)
      return {}
    }
    return members(value, depth)
  }

  function follow(reference: string, beside: JsonObject, depth: number): Json {
    if (open.has(reference)) return {}
    const found = document.find(reference, use.where)
    if (found === undefined) return {}
    open.add(reference)
    const expanded = expand(found, depth + 1)
    open.delete(reference)
    // In 3.0 a reference has nothing beside it that counts.
    if (document.isOld || Object.keys(beside).length === 0 || !isObject(expanded)) return expanded
    const own = expand(beside, depth + 1)
    return isObject(own) ? { ...expanded, ...own } : expanded
  }

  function members(schema: JsonObject, depth: number): JsonObject {
    const dropped: readonly Json[] = use.isSent ? readOnlyNames(schema) : []
    const entries = Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
      if (LEFT_OUT.has(key)) return []
      if (ONE.has(key)) return [[key, Array.isArray(value) ? each(value, depth) : expand(value, depth + 1)]]
      if (SEVERAL.has(key)) return [[key, Array.isArray(value) ? each(value, depth) : []]]
      if (NAMED.has(key)) return [[key, isObject(value) ? named(value, dropped, depth) : {}]]
      if (key === 'required' && Array.isArray(value)) return [[key, value.filter((name) => !dropped.includes(name))]]
      return [[key, value]]
    })
    const expanded = Object.fromEntries(entries)
    return document.isOld ? modernise(expanded) : expanded
  }

  function each(schemas: Json[], depth: number): Json[] {
    return schemas.map((schema) => expand(schema, depth + 1))
  }

  function named(schemas: JsonObject, dropped: readonly Json[], depth: number): JsonObject {
    const kept = Object.entries(schemas).filter(([name]) => !dropped.includes(name))
    return Object.fromEntries(kept.map(([name, schema]) => [name, expand(schema, depth + 1)]))
  }

  function readOnlyNames({ properties }: JsonObject): string[] {
    if (!isObject(properties)) return []
    return Object.keys(properties).filter((name) => {
      const property = properties[name]
      return isObject(property) && property.readOnly === true
    })
  }
}

/** What 3.0 says in words of its own, in those of JSON Schema. */
function modernise({ nullable, exclusiveMinimum, exclusiveMaximum, ...schema }: JsonObject): JsonObject {
  const modern: JsonObject = { ...schema }
  if (nullable === true && typeof schema.type === 'string') modern.type = [schema.type, 'null']
  if (nullable === true && Array.isArray(schema.enum) && !schema.enum.includes(null))
    modern.enum = [...schema.enum, null]
  limit('minimum', 'exclusiveMinimum', exclusiveMinimum)
  limit('maximum', 'exclusiveMaximum', exclusiveMaximum)
  return modern

  function limit(plain: string, exclusive: string, value: Json | undefined): void {
    if (typeof value === 'number') modern[exclusive] = value
    if (value !== true || typeof modern[plain] !== 'number') return
    modern[exclusive] = modern[plain]
    delete modern[plain]
  }
}

/** Keywords that hold a schema, several, or several by name; everything else is data, whatever it looks like. */
const ONE = new Set([
  'additionalProperties',
  'contains',
  'contentSchema',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
])
const SEVERAL = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const NAMED = new Set(['dependentSchemas', 'patternProperties', 'properties'])
/** Of no use without the document. */
const LEFT_OUT = new Set([
  '$anchor',
  '$comment',
  '$defs',
  '$dynamicAnchor',
  '$id',
  '$ref',
  '$schema',
  'definitions',
  'discriminator',
  'externalDocs',
  'xml',
])

const MOST_VALUES = 20_000
const MOST_LEVELS = 64
