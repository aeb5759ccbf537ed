import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../json.ts'
import { entriesOf, type OpenApiDocument, stringOrNull } from './document.ts'
import { modernise } from './modernise-schema.ts'

/** The operation that uses a schema, and the direction of the data. */
interface SchemaUse {
  /** Names the operation in faults. */
  where: string
  /** Whether the schema describes a request: properties that only responses have are left out. */
  isSent: boolean
}

/**
 * Returns a schema as JSON Schema without references, for readers that do not follow references. A recursive schema
 * cannot be written out: at the recursion, any value is allowed. A schema that is too large is cut off at the depth
 * that fits.
 */
export function expandSchema(schema: Json | undefined, document: OpenApiDocument, use: SchemaUse): Json {
  const reference = isObject(schema) && Object.keys(schema).length === 1 ? schema.$ref : undefined
  const key = typeof reference === 'string' ? `${use.isSent} ${reference}` : null
  const known = key === null ? undefined : document.expanded.get(key)
  if (known !== undefined) return known
  const expanded = expandAsFits(schema ?? {}, document, use)
  if (key !== null) document.expanded.set(key, expanded)
  return expanded
}

function expandAsFits(schema: Json, document: OpenApiDocument, use: SchemaUse): Json {
  const room = document.budget > 0 ? MOST_VALUES : FEW_VALUES
  for (const levels of LEVELS) {
    const expansion = new Expansion(document, use, { room, levels })
    const expanded = expansion.expand(schema, 0)
    document.budget -= room - expansion.left
    if (expansion.left >= 0) return expanded
  }
  return {}
}

class Expansion {
  readonly #document: OpenApiDocument
  readonly #use: SchemaUse
  readonly #levels: number
  /** References that are being resolved. */
  readonly #open = new Set<string>()
  /** The number of values that still fit; negative when the schema is too large. */
  left: number

  constructor(document: OpenApiDocument, use: SchemaUse, { room, levels }: { room: number; levels: number }) {
    this.#document = document
    this.#use = use
    this.#levels = levels
    this.left = room
  }

  expand(value: Json, depth: number): Json {
    if (!isObject(value)) return value === false ? false : {}
    if (this.left < 0 || --this.left < 0) return {}
    const { $ref: reference, ...rest } = value
    if (depth > this.#levels) return typeof reference === 'string' ? {} : outline(value)
    if (typeof reference === 'string') return this.#follow(reference, rest, depth)
    if ('$dynamicRef' in value || '$recursiveRef' in value) {
      this.#document.fault(this.#use.where, `a schema with \`$dynamicRef\` or \`$recursiveRef\``)
      return {}
    }
    return this.#members(value, depth)
  }

  #follow(reference: string, beside: JsonObject, depth: number): Json {
    if (this.#open.has(reference)) return {}
    const found = this.#document.find(reference, this.#use.where)
    if (found === undefined) return {}
    this.#open.add(reference)
    const expanded = this.expand(found, depth + 1)
    this.#open.delete(reference)
    // In 3.0, members beside a `$ref` are ignored.
    if (this.#document.isOld || Object.keys(beside).length === 0 || !isObject(expanded)) return expanded
    const own = this.expand(beside, depth + 1)
    return isObject(own) ? { ...expanded, ...own } : expanded
  }

  #members(schema: JsonObject, depth: number): JsonObject {
    const dropped: readonly Json[] = this.#use.isSent ? readOnlyNames(schema) : []
    const entries = Object.entries(schema).flatMap(([key, value]): [string, Json][] => {
      if (LEFT_OUT.has(key) || key.startsWith('x-')) return []
      if (ONE.has(key)) return [[key, Array.isArray(value) ? this.#each(value, depth) : this.expand(value, depth + 1)]]
      if (SEVERAL.has(key)) return Array.isArray(value) && value.length > 0 ? [[key, this.#each(value, depth)]] : []
      if (NAMED.has(key)) return [[key, isObject(value) ? this.#named(value, dropped, depth) : {}]]
      if (key === 'required') return requiredNames(value, dropped)
      return [[key, value]]
    })
    const expanded = Object.fromEntries(entries)
    return modernise(expanded)
  }

  #each(schemas: Json[], depth: number): Json[] {
    return schemas.map((schema) => this.expand(schema, depth + 1))
  }

  #named(schemas: JsonObject, dropped: readonly Json[], depth: number): JsonObject {
    const kept = Object.entries(schemas).filter(([name]) => !dropped.includes(name))
    return Object.fromEntries(kept.map(([name, schema]) => [name, this.expand(schema, depth + 1)]))
  }
}

/** The outline of a schema below the depth limit: its type and description, without its contents. */
function outline({ type, description }: JsonObject): JsonObject {
  return {
    ...(type !== undefined && { type }),
    ...(stringOrNull(description) !== null && { description: description ?? '' }),
  }
}

function readOnlyNames({ properties }: JsonObject): string[] {
  return entriesOf(properties).flatMap(([name, property]) =>
    isObject(property) && property.readOnly === true ? name : [],
  )
}

/** In older documents, `required: true` in a property means nothing, so only a list is kept. */
function requiredNames(value: Json, dropped: readonly Json[]): [string, Json][] {
  if (!Array.isArray(value)) return []
  const names = value.filter((name) => typeof name === 'string' && !dropped.includes(name))
  return [['required', [...new Set(names)]]]
}

/**
 * Keywords that contain one schema, a list of schemas, or schemas by name. Other keywords contain data, even if the
 * data looks like a schema.
 */
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
/** Keywords that have no use without the document. */
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

/** The most values of one schema, and the number for a schema after the others have used up the document's budget. */
const MOST_VALUES = 4_000
const FEW_VALUES = 60
/** Depths that are tried in order, until the schema fits. */
const LEVELS = [64, 12, 8, 6, 5, 4, 3, 2, 1, 0]
