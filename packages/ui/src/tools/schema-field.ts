import { isObject } from '@portico/http/json'
import { textOrEmpty } from '../api/unknown-values.ts'

/** A field of a form, made from an untrusted JSON Schema. A schema that no form can show becomes a field for JSON. */
export type SchemaField = FieldBase &
  (
    | { readonly kind: 'text' }
    | { readonly kind: 'boolean' }
    | { readonly kind: 'json' }
    | { readonly kind: 'number' | 'integer'; readonly least: number | null; readonly most: number | null }
    | { readonly kind: 'choice'; readonly choices: readonly unknown[] }
    | { readonly kind: 'list'; readonly item: SchemaField; readonly fewest: number; readonly most: number }
    | { readonly kind: 'object'; readonly fields: readonly SchemaField[] }
  )

interface FieldBase {
  readonly name: string
  readonly description: string
  readonly isNeeded: boolean
}

type Schema = Record<string, unknown>

/** The field of the arguments of a tool: an object of fields, or JSON if no form can show the schema. */
export function argumentsField(schema: unknown): SchemaField {
  const base = { name: '', description: '', isNeeded: true }
  if (schema === undefined) return { ...base, kind: 'object', fields: [] }
  return isObject(schema) ? fieldOf(schema, base, { root: schema, depth: 0 }) : { ...base, kind: 'json' }
}

interface SchemaScope {
  root: Schema
  depth: number
}

function fieldOf(given: Schema, base: FieldBase, around: SchemaScope): SchemaField {
  const found = resolved(given, around.root)
  const schema = found === null ? null : withoutNull(found, around.root)
  if (schema === null || around.depth > MAX_DEPTH) return { ...base, kind: 'json' }
  const described = { ...base, description: textOrEmpty(given['description'] ?? schema['description']) }
  const choices = choicesOf(schema)
  if (choices !== null) return { ...described, kind: 'choice', choices }
  if (['oneOf', 'anyOf', 'allOf', 'not', 'if'].some((word) => word in schema)) return { ...described, kind: 'json' }
  switch (typeOf(schema)) {
    case 'string':
      return { ...described, kind: 'text' }
    case 'boolean':
      return { ...described, kind: 'boolean' }
    case 'number':
    case 'integer':
      return {
        ...described,
        kind: typeOf(schema) === 'integer' ? 'integer' : 'number',
        least: numberOf(schema['minimum']),
        most: numberOf(schema['maximum']),
      }
    case 'array':
      return listField(schema, described, around)
    case 'object':
      return objectField(schema, described, around)
    default:
      return { ...described, kind: 'json' }
  }
}

function listField(schema: Schema, base: FieldBase, { root, depth }: SchemaScope): SchemaField {
  const { items } = schema
  if (!isObject(items) || 'prefixItems' in schema) return { ...base, kind: 'json' }
  const item = fieldOf(items, { name: '', description: '', isNeeded: true }, { root, depth: depth + 1 })
  const fewest = numberOf(schema['minItems']) ?? 0
  return { ...base, kind: 'list', item, fewest, most: numberOf(schema['maxItems']) ?? MAX_ITEMS }
}

function objectField(schema: Schema, base: FieldBase, { root, depth }: SchemaScope): SchemaField {
  const properties = isObject(schema['properties']) ? schema['properties'] : {}
  const names = Object.keys(properties)
  // Free property names need JSON, and so does a form that is too long to fill in.
  const isOpen = names.length === 0 && (depth > 0 || isObject(schema['additionalProperties']))
  if (isOpen || names.length > MAX_FIELDS) return { ...base, kind: 'json' }
  const needed = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : []
  const fields = names.map((name) => {
    const property = properties[name]
    const own = { name, description: '', isNeeded: needed.includes(name) }
    return isObject(property) ? fieldOf(property, own, { root, depth: depth + 1 }) : { ...own, kind: 'json' as const }
  })
  return { ...base, kind: 'object', fields }
}

/** Follows `#/$defs/…` within the schema itself, and nothing else. */
function resolved(schema: Schema, root: Schema): Schema | null {
  let found: unknown = schema
  for (let step = 0; step < MAX_DEPTH; step++) {
    if (!isObject(found)) return null
    const { $ref: reference } = found
    if (reference === undefined) return found
    if (typeof reference !== 'string' || !reference.startsWith('#/')) return null
    found = reference
      .slice(2)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
      .reduce<unknown>((at, part) => (isObject(at) && Object.hasOwn(at, part) ? at[part] : undefined), root)
  }
  return null
}

/** The schema without its `null` option: an empty field stands for null. */
function withoutNull(schema: Schema, root: Schema): Schema | null {
  const { anyOf, oneOf, type } = schema
  const options = Array.isArray(anyOf) ? anyOf : Array.isArray(oneOf) ? oneOf : null
  if (options !== null) {
    const others = (options as unknown[]).filter((option) => !isObject(option) || option['type'] !== 'null')
    const [only] = others
    return others.length === 1 && others.length < options.length && isObject(only) ? resolved(only, root) : schema
  }
  if (!Array.isArray(type)) return schema
  const others = (type as unknown[]).filter((each) => each !== 'null')
  return others.length === 1 ? { ...schema, type: others[0] } : schema
}

function choicesOf({ enum: choices, const: only }: Schema): unknown[] | null {
  if (only !== undefined) return [only]
  return Array.isArray(choices) && choices.length > 0 && choices.length <= MAX_CHOICES ? (choices as unknown[]) : null
}

function typeOf(schema: Schema): unknown {
  return schema['type'] ?? ('properties' in schema ? 'object' : undefined)
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

const MAX_DEPTH = 5
const MAX_FIELDS = 60
const MAX_ITEMS = 100
const MAX_CHOICES = 200
