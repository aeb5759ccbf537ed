import type { Json, JsonObject } from '../../schema/kit.ts'
import { isObject, type OpenApiDocument, shorten, textOf } from './document.ts'
import { expandSchema } from './expand-schema.ts'
import type { OpenApiParameter, ParameterPlace } from './operation.ts'

export interface ReadParameter {
  parameter: OpenApiParameter
  /** What the argument may be. */
  schema: Json
}

/** The parameters of an operation, with those of its path; of two with one name and place that of the operation counts. */
export function readParameters(
  lists: readonly (Json | undefined)[],
  document: OpenApiDocument,
  where: string,
): ReadParameter[] {
  const byPlace = new Map<string, ReadParameter>()
  for (const list of lists) {
    if (list !== undefined && !Array.isArray(list)) document.fault(`${where}: \`parameters\` that are no list`)
    for (const entry of Array.isArray(list) ? list : []) {
      const object = document.object(entry, where)
      const read = object === null ? null : readParameter(object, document, where)
      if (read !== null) byPlace.set(`${read.parameter.in} ${read.parameter.name}`, read)
    }
  }
  return [...byPlace.values()]
}

function readParameter(object: JsonObject, document: OpenApiDocument, where: string): ReadParameter | null {
  const name = textOf(object.name)
  if (name === null || name.length > LONGEST_NAME) {
    document.fault(`${where}: a parameter without a name, or with one of more than ${LONGEST_NAME} characters`)
    return null
  }
  const place = placeOf(object.in)
  if (place === null) {
    document.fault(
      `${where}: the parameter \`${shorten(name)}\` in ${JSON.stringify(object.in ?? null)}, which cannot be sent`,
    )
    return null
  }
  if (place === 'header' && !isSendable(name, document, where)) return null
  const found = readForm(object, place, document, `${where}, parameter \`${shorten(name)}\``)
  if (found === null) return null
  const { schema, ...form } = found
  const parameter = { in: place, name, required: place === 'path' || object.required === true, ...form }
  return { parameter, schema: described(schema, object) }
}

/** How the value is written, and what it may be. */
function readForm(
  object: JsonObject,
  place: ParameterPlace,
  document: OpenApiDocument,
  where: string,
): (Pick<OpenApiParameter, 'style' | 'explode' | 'keys'> & { schema: Json }) | null {
  const use = { where, isSent: true }
  if (isObject(object.content)) {
    const json = Object.entries(object.content).find(([type]) => isJsonType(type))?.[1]
    if (isObject(json)) {
      return { style: 'json', explode: false, keys: null, schema: expandSchema(json.schema, document, use) }
    }
    document.fault(`${where}: content other than JSON`)
    return null
  }
  const style = object.style ?? (place === 'query' ? 'form' : 'simple')
  const isKnown = place === 'query' ? style === 'form' || style === 'deepObject' : style === 'simple'
  if (!isKnown) {
    document.fault(`${where}: the style ${JSON.stringify(style)}, which is not supported in a ${place}`)
    return null
  }
  const schema = expandSchema(object.schema, document, use)
  const explode = typeof object.explode === 'boolean' ? object.explode : style === 'form'
  return { style: style as 'simple' | 'form' | 'deepObject', explode, keys: keysOf(schema), schema }
}

/** Names that an object may have; null where the document leaves them open. */
function keysOf(schema: Json): string[] | null {
  if (!isObject(schema)) return null
  const { properties, additionalProperties: more } = schema
  if (more === true || isObject(more) || !isObject(properties)) return more === false ? [] : null
  return Object.keys(properties)
}

function described(schema: Json, { description, deprecated }: JsonObject): Json {
  if (!isObject(schema)) return schema
  const text = textOf(schema.description) ?? textOf(description)
  return {
    ...schema,
    ...(text !== null && { description: text }),
    ...(deprecated === true && { deprecated }),
  }
}

function placeOf(value: Json | undefined): ParameterPlace | null {
  return value === 'path' || value === 'query' || value === 'header' ? value : null
}

/** Whether a tool may say what stands in the header. */
function isSendable(name: string, document: OpenApiDocument, where: string): boolean {
  const key = name.toLowerCase().replaceAll(/[_.]/g, '-')
  if (LEFT_TO_OTHERS.has(key)) return false
  if (/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && !OWN.has(key) && !/^(x-forwarded-|mcp-|proxy-|sec-)/.test(key)) {
    return true
  }
  document.fault(`${where}: the header \`${shorten(name)}\`, which is not a tool's to set`)
  return false
}

export function isJsonType(type: string): boolean {
  return /^application\/(json|[a-z0-9!#$&^_.-]+\+json)$/.test(mediaTypeOf(type))
}

export function mediaTypeOf(type: string): string {
  return type.split(';', 1)[0]!.trim().toLowerCase()
}

/** OpenAPI itself says that parameters of these names do not count. */
const LEFT_TO_OTHERS = new Set(['accept', 'authorization', 'content-type'])
/** About the connection, the message, or who asks. */
const OWN = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'cookie',
  'expect',
  'forwarded',
  'host',
  'keep-alive',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
])

const LONGEST_NAME = 256
