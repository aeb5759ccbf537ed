import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../../middle.ts'

export type SchemaType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

interface SchemaTypes {
  types: SchemaType[]
  /** The schemas of `anyOf` or `oneOf`, without pure null schemas. */
  alternatives: JsonObject[]
  isNullable: boolean
}

/**
 * The types that a schema without references allows: the listed types, or else the types that its other keywords imply.
 */
export function readTypes(schema: JsonObject): SchemaTypes {
  const listed = schema['anyOf'] ?? schema['oneOf']
  const branches = Array.isArray(listed) ? listed.filter(isObject) : []
  const alternatives = branches.filter((branch) => !isNull(branch))
  const values = valuesOf(schema)
  const named = namesOfTypes(schema['type'])
  let types = named.filter(isSchemaType)
  if (types.length === 0 && values !== null) types = values.map(typeOfValue).filter((type) => type !== null)
  if (types.length === 0) types = typesByKeyword.filter(([key]) => schema[key] !== undefined).map(([, type]) => type)
  const isNullable =
    schema['nullable'] === true ||
    named.includes('null') ||
    values?.includes(null) === true ||
    alternatives.length < branches.length
  // Types implied by keywords alone are cut to the first: keywords of several types are seldom mixed on purpose.
  return {
    types: named.length === 0 && values === null ? types.slice(0, 1) : [...new Set(types)],
    alternatives,
    isNullable,
  }
}

/** The values of `const` or `enum`; null when the schema has neither. */
export function valuesOf({ const: only, enum: values }: JsonObject): Json[] | null {
  if (only !== undefined) return [only]
  return Array.isArray(values) ? values : null
}

export function typeOfValue(value: Json): SchemaType | null {
  if (value === null) return null
  if (Array.isArray(value)) return 'array'
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number'
  return isSchemaType(typeof value) ? (typeof value as SchemaType) : null
}

function isNull(schema: JsonObject): boolean {
  const values = valuesOf(schema)
  return schema['type'] === 'null' || (values !== null && values.length > 0 && values.every((value) => value === null))
}

/** The type names in lower case; some generators write them in capitals, as Gemini does. */
function namesOfTypes(type: Json | undefined): string[] {
  const names = Array.isArray(type) ? type : [type]
  return names.flatMap((name) => (typeof name === 'string' ? [name.toLowerCase()] : []))
}

function isSchemaType(name: string): name is SchemaType {
  return SCHEMA_TYPES.has(name)
}

const SCHEMA_TYPES: ReadonlySet<string> = new Set<SchemaType>([
  'string',
  'number',
  'integer',
  'boolean',
  'array',
  'object',
])

const typesByKeyword: readonly (readonly [string, SchemaType])[] = [
  ['properties', 'object'],
  ['additionalProperties', 'object'],
  ['required', 'object'],
  ['items', 'array'],
  ['prefixItems', 'array'],
  ['pattern', 'string'],
  ['minLength', 'string'],
  ['maxLength', 'string'],
  ['minimum', 'number'],
  ['maximum', 'number'],
  ['exclusiveMinimum', 'number'],
  ['exclusiveMaximum', 'number'],
]
