import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../../middle.ts'
import { flattenSchema, type SchemaReader, spend } from './flatten-schema.ts'
import { keywordsOf } from './schema-keywords.ts'
import { readTypes } from './schema-types.ts'

/**
 * Converts JSON Schema to Gemini's dialect: a subset of OpenAPI 3.0 with one type per schema, no references, and no
 * keywords beside `anyOf`.
 */
export function normaliseSchema(reader: SchemaReader): JsonObject {
  return normalise(reader, reader.root, { refs: [], depth: 0 })
}

/** Converts the parameters of a function, which must be an object; null when the function has no parameters. */
export function normaliseParameters(reader: SchemaReader): JsonObject | null {
  const { nullable: _, ...schema } = asObject(normaliseSchema(reader))
  const { properties } = schema
  return isObject(properties) && Object.keys(properties).length > 0 ? schema : null
}

/**
 * Merges alternatives of a whole object into one object. A property is required only if all alternatives require it.
 */
function asObject(schema: JsonObject): JsonObject {
  if (!Array.isArray(schema['anyOf'])) return schema
  const branches = schema['anyOf'].filter(isObject).filter((branch) => branch['type'] === 'OBJECT')
  const properties = Object.fromEntries(branches.flatMap((branch) => Object.entries(branch['properties'] ?? {})))
  const required = Object.keys(properties).filter((name) =>
    branches.every((branch) => Array.isArray(branch['required']) && branch['required'].includes(name)),
  )
  return { type: 'OBJECT', properties, ...(required.length > 0 && { required }) }
}

/** The nesting of a schema in the root: the references that lead to it, and its depth. */
interface Nesting {
  refs: readonly string[]
  depth: number
}

function normalise(reader: SchemaReader, value: Json, nesting: Nesting): JsonObject {
  if (!isObject(value)) return anything({})
  if (!spend(reader, lengthOfTexts(value), nesting.depth)) return { type: 'OBJECT' }
  const { schema, refs } = flattenSchema(reader, value, nesting.refs)
  const child = (inner: Json) => normalise(reader, inner, { refs, depth: nesting.depth + 1 })
  const { types, alternatives, isNullable } = readTypes(schema)
  const [type, ...otherTypes] = types
  if (alternatives.length > 0) {
    const shared = withoutWords(schema)
    const branches = alternatives.map((branch) => (isEmpty(shared) ? branch : { allOf: [branch, shared] }))
    return anyOf(branches.map(child), schema, isNullable)
  }
  if (type === undefined) return isNullable ? { type: 'NULL', ...wordsOf(schema) } : anything(schema)
  if (otherTypes.length > 0) {
    const shared = withoutWords(schema)
    return anyOf(
      types.map((name) => child({ ...shared, type: name })),
      schema,
      isNullable,
    )
  }
  const nullable: JsonObject = isNullable ? { nullable: true } : {}
  return { type: type.toUpperCase(), ...wordsOf(schema), ...nullable, ...keywordsOf(reader, schema, type, child) }
}

/** The size of a schema's texts. Inlined descriptions make schemas large. */
function lengthOfTexts(schema: JsonObject): number {
  let length = 0
  for (const value of Object.values(schema)) {
    if (typeof value === 'string') length += value.length
    else if (Array.isArray(value)) for (const item of value) length += typeof item === 'string' ? item.length : 1
  }
  return length
}

function wordsOf({ title, description }: JsonObject): JsonObject {
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
  }
}

/** The keywords that apply to every alternative of a schema. */
function withoutWords(schema: JsonObject): JsonObject {
  const { anyOf: _, oneOf: _oneOf, title: _title, description: _description, nullable: _nullable, ...shared } = schema
  return shared
}

function isEmpty(schema: JsonObject): boolean {
  return Object.keys(schema).length === 0
}

function anyOf(branches: JsonObject[], schema: JsonObject, isNullable: boolean): JsonObject {
  const flat = branches.flatMap((branch) =>
    Array.isArray(branch['anyOf']) ? branch['anyOf'].filter(isObject) : [branch],
  )
  const different = [...new Map(flat.map((branch) => [JSON.stringify(branch), branch])).values()]
  const [first = {}, ...others] = different.map((branch) => (isNullable ? { ...branch, nullable: true } : branch))
  if (others.length === 0) return { ...first, ...wordsOf(schema) }
  // No keyword may stand beside `anyOf`, so the first alternative carries the title and description of the whole
  // schema.
  const words = { ...wordsOf(schema), ...wordsOf(first) }
  const description = [schema['description'], first['description']]
    .filter((text) => typeof text === 'string')
    .join('\n')
  return { anyOf: [{ ...first, ...words, ...(description !== '' && { description }) }, ...others] }
}

/** A schema that allows every value. Gemini requires a type, so the schema lists all types. */
function anything(schema: JsonObject): JsonObject {
  return anyOf(ALL_TYPES, schema, false)
}

const ALL_TYPES: JsonObject[] = [
  { type: 'STRING' },
  { type: 'NUMBER' },
  { type: 'BOOLEAN' },
  { type: 'OBJECT' },
  { type: 'ARRAY', items: { type: 'STRING' } },
]
