import type { Json, JsonObject } from '../json.ts'
import { entriesOf, isObject, type OpenApiDocument, textOf } from './document.ts'
import { modernise } from './modernise-schema.ts'

/** Where the schema stands, and what for. */
export interface SchemaUse {
  /** Names the operation, in faults. */
  where: string
  /** What only answers have is left out. */
  isSent: boolean
}

/**
 * A schema as JSON Schema without references, for readers that follow none. One that holds itself cannot be written out:
 * where it comes round, anything goes. One that is too large is written out as deep as there is room.
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
  /** References that are being filled in. */
  readonly #open = new Set<string>()
  /** Values that still have room; less than none when the schema is too large. */
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
    // In 3.0 a reference has nothing beside it that counts.
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

/** Of what lies too deep: what it is, not what it holds. */
function outline({ type, description }: JsonObject): JsonObject {
  return {
    ...(type !== undefined && { type }),
    ...(textOf(description) !== null && { description: description ?? '' }),
  }
}

function readOnlyNames({ properties }: JsonObject): string[] {
  return entriesOf(properties).flatMap(([name, property]) =>
    isObject(property) && property.readOnly === true ? name : [],
  )
}

/** A word of its own here: in older documents `required: true` stands in properties, and means nothing. */
function requiredNames(value: Json, dropped: readonly Json[]): [string, Json][] {
  if (!Array.isArray(value)) return []
  const names = value.filter((name) => typeof name === 'string' && !dropped.includes(name))
  return [['required', [...new Set(names)]]]
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

/** Of one schema; and of one where others of the document have taken all room. */
const MOST_VALUES = 4_000
const FEW_VALUES = 60
/** Tried one after the other, until the schema fits. */
const LEVELS = [64, 12, 8, 6, 5, 4, 3, 2, 1, 0]
