import { isObject } from '../../../wire/json.ts'
import type { Json, JsonObject } from '../../middle.ts'

export type SchemaType = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'

export interface SchemaTypes {
  types: SchemaType[]
  /** Of `anyOf` or `oneOf`, without those that are only null. */
  alternatives: JsonObject[]
  isNullable: boolean
}

/** What a schema without references may be: the types it names, or else those that its other keywords speak of. */
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
  // Where only keywords speak, the first type they name stands for all: they are seldom mixed on purpose.
  return {
    types: named.length === 0 && values === null ? types.slice(0, 1) : [...new Set(types)],
    alternatives,
    isNullable,
  }
}

/** Of `const` or `enum`; null when it has neither. */
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

/** Some generators write them in capitals, as Gemini does. */
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
