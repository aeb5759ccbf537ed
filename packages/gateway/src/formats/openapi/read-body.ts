import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../json.ts'
import { entriesOf, type OpenApiDocument, shorten } from './document.ts'
import { expandSchema } from './expand-schema.ts'
import { type FormField, type OpenApiBody, STYLES } from './operation.ts'

export interface ReadBody {
  body: OpenApiBody
  /** The schema of the body that clients see. */
  schema: Json
}

/** Returns the body of an operation in the format that a model writes best; null when it has none. */
export function readBody(
  value: Json | undefined,
  { document, method, where }: { document: OpenApiDocument; method: string; where: string },
): ReadBody | null {
  // A body has no defined meaning in GET and HEAD (RFC 9110 section 9.3).
  if (value === undefined || method === 'get' || method === 'head') return null
  const object = document.object(value, where)
  if (object === null) return null
  const types = entriesOf(object.content).map(([type, media]) => ({
    type: mediaTypeOf(type),
    media: isObject(media) ? media : {},
  }))
  const chosen = KINDS.flatMap(({ as, takes }) =>
    types.filter(({ type }) => takes(type)).map((each) => ({ as, ...each })),
  )
  const [best] = chosen
  if (best === undefined) {
    const names = types.map(({ type }) => `\`${shorten(type)}\``).join(', ')
    document.fault(where, `a body of ${names === '' ? 'no type' : names}`)
    return null
  }
  const { as, type, media } = best
  const body = { mediaType: concrete(type, as), as, required: object.required === true, fields: {} }
  if (as === 'text') return { body, schema: { type: 'string', description: `The body, as ${body.mediaType}.` } }
  if (as === 'base64') return { body, schema: bytesSchema('The body.') }
  const schema = expandSchema(media.schema, document, { where, isSent: true })
  if (as === 'json') return { body, schema }
  const fields = formFields(schema, media.encoding)
  return { body: { ...body, fields }, schema: withFiles(schema, fields) }
}

/** Kinds of bodies, in order of preference. */
const KINDS: readonly { as: OpenApiBody['as']; takes: (type: string) => boolean }[] = [
  { as: 'json', takes: isJsonType },
  { as: 'form', takes: (type) => type === 'application/x-www-form-urlencoded' },
  { as: 'multipart', takes: (type) => type === 'multipart/form-data' },
  { as: 'json', takes: (type) => type === '*/*' || type === 'application/*' },
  { as: 'text', takes: (type) => /^text\/|^application\/([a-z0-9.-]+\+)?(xml|yaml|x-yaml|graphql|sql)$/.test(type) },
  {
    as: 'base64',
    takes: (type) => /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+*-]+$/.test(type) && !type.startsWith('multipart/'),
  },
]

/** Replaces a media type range: a request must send a concrete type. */
function concrete(type: string, as: OpenApiBody['as']): string {
  if (!type.includes('*')) return type
  if (as === 'json') return 'application/json'
  return as === 'text' ? 'text/plain' : 'application/octet-stream'
}

/** Returns the fields that are files, or whose format `encoding` defines. */
function formFields(schema: Json, encoding: Json | undefined): Record<string, FormField> {
  const properties = isObject(schema) ? Object.fromEntries(propertiesOf(schema, 0)) : {}
  const names = new Set([...Object.keys(properties), ...entriesOf(encoding).map(([name]) => name)])
  const fields = [...names].flatMap((name): [string, FormField][] => {
    const own = isObject(encoding) && Object.hasOwn(encoding, name) ? encoding[name] : undefined
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    const field = formField(property, isObject(own) ? own : {})
    return field.style === null && field.mediaType === null && !field.isFile ? [] : [[name, field]]
  })
  return Object.fromEntries(fields)
}

function formField(property: Json | undefined, { style: named, explode, contentType }: JsonObject): FormField {
  const style = STYLES.query.find((each) => each === named) ?? (typeof explode === 'boolean' ? 'form' : null)
  const types = typeof contentType === 'string' ? contentType.split(',').map(mediaTypeOf) : []
  return {
    style,
    explode: typeof explode === 'boolean' ? explode : style === 'form',
    mediaType: types.find((type) => /^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+$/.test(type)) ?? null,
    isFile: isFile(property) || (isObject(property) && isFile(property.items)),
  }
}

/** Returns the properties of a schema and of its `allOf`, `anyOf` and `oneOf` parts. */
function propertiesOf(schema: JsonObject, depth: number): [string, Json][] {
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((key) => {
    const list = schema[key]
    return Array.isArray(list) && depth < MOST_LEVELS ? list : []
  })
  return [
    ...parts.flatMap((part) => (isObject(part) ? propertiesOf(part, depth + 1) : [])),
    ...entriesOf(schema.properties),
  ]
}

/** In 3.0 the format marks a file, in 3.1 a media type without an encoding. */
function isFile(schema: Json | undefined): boolean {
  if (!isObject(schema)) return false
  const { format, contentMediaType, contentEncoding } = schema
  return format === 'binary' || (typeof contentMediaType === 'string' && contentEncoding === undefined)
}

/** Describes files as base64 texts, because JSON cannot contain bytes. */
function withFiles(schema: Json, fields: Record<string, FormField>): Json {
  if (!isObject(schema) || !isObject(schema.properties)) return schema
  const properties = Object.entries(schema.properties).map(([name, property]): [string, Json] => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field?.isFile !== true || !isObject(property)) return [name, property]
    const text = typeof property.description === 'string' ? property.description : 'A file.'
    return [name, isFile(property) ? bytesSchema(text) : { ...property, items: bytesSchema('A file.') }]
  })
  return { ...schema, properties: Object.fromEntries(properties) }
}

function bytesSchema(text: string): JsonObject {
  return { type: 'string', contentEncoding: 'base64', description: `${text} In base64.` }
}

export function isJsonType(type: string): boolean {
  return /^application\/(json|[a-z0-9!#$&^_.-]+\+json)$/.test(mediaTypeOf(type))
}

export function mediaTypeOf(type: string): string {
  return (type.split(';', 1)[0] ?? '').trim().toLowerCase()
}

const MOST_LEVELS = 8
