import { isObject, type Json, type JsonObject } from '../../packages/http/src/json/json.ts'

/** Arguments that fit the schema of a tool: the required ones, or all there are. */
export function sampleArguments(schema: JsonObject, which: 'required' | 'all'): JsonObject {
  const value = sample(schema, which, 0)
  return isObject(value) ? value : {}
}

function sample(schema: Json | undefined, which: 'required' | 'all', depth: number): Json {
  if (!isObject(schema)) return 'x'
  const [given] = [schema.const, first(schema.examples), schema.default, first(schema.enum)].filter(
    (each) => each !== undefined && each !== null,
  )
  if (given !== undefined) return given
  const [branch] = [schema.oneOf, schema.anyOf].map(first)
  if (branch !== undefined && branch !== null) return sample(joined(schema, [branch]), which, depth)
  if (Array.isArray(schema.allOf)) return sample(joined(schema, schema.allOf), which, depth)
  const type = Array.isArray(schema.type) ? schema.type.find((each) => each !== 'null') : schema.type
  if (type === 'array') {
    const count = Math.max(numberAt(schema, 'minItems') ?? 1, 1)
    const item = sample(schema.items, which, depth + 1)
    return schema.uniqueItems === true ? [item] : Array.from({ length: count }, () => item)
  }
  if (type === 'integer' || type === 'number') return sampleNumber(schema)
  if (type === 'boolean') return true
  if (type === 'null') return null
  const isOfObjects = type === 'object' || (type !== 'string' && isObject(schema.properties))
  return isOfObjects ? sampleObject(schema, which, depth) : sampleText(schema)
}

function sampleObject(schema: JsonObject, which: 'required' | 'all', depth: number): JsonObject {
  const required = Array.isArray(schema.required) ? schema.required : []
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : []
  const wanted = properties.filter(([name]) => required.includes(name) || (which === 'all' && depth < 3))
  return Object.fromEntries(wanted.map(([name, property]) => [name, sample(property, which, depth + 1)]))
}

function sampleNumber(schema: JsonObject): number {
  const least = numberAt(schema, 'minimum') ?? (numberAt(schema, 'exclusiveMinimum') ?? 0) + 1
  const most = numberAt(schema, 'maximum') ?? (numberAt(schema, 'exclusiveMaximum') ?? Infinity) - 1
  const step = numberAt(schema, 'multipleOf')
  const value = Math.min(Math.max(1, least), most)
  return step === undefined ? value : Math.ceil(value / step) * step
}

function sampleText(schema: JsonObject): string {
  if (schema.contentEncoding === 'base64') return 'AAEC'
  const known = typeof schema.format === 'string' ? FORMATS[schema.format] : undefined
  return known ?? 'x'.repeat(Math.max(numberAt(schema, 'minLength') ?? 1, 1))
}

const FORMATS: Partial<Record<string, string>> = {
  date: '2026-01-31',
  'date-time': '2026-01-31T12:00:00Z',
  email: 'a@example.com',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  byte: 'AAEC',
  'iso-country-code': 'DE',
}

/** The schema with the members of its parts. */
function joined(schema: JsonObject, parts: readonly Json[]): JsonObject {
  const { oneOf: _one, anyOf: _any, allOf: _all, ...own } = schema
  const all = [own, ...parts.filter(isObject)]
  const required = all.flatMap((part) => (Array.isArray(part.required) ? part.required : []))
  const properties = Object.assign(
    {},
    ...all.map((part) => (isObject(part.properties) ? part.properties : {})),
  ) as JsonObject
  return { ...(Object.assign({}, ...all) as JsonObject), required, properties }
}

function first(list: Json | undefined): Json | undefined {
  return Array.isArray(list) ? list[0] : undefined
}

function numberAt(schema: JsonObject, key: string): number | undefined {
  const value = schema[key]
  return typeof value === 'number' ? value : undefined
}
