import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../json.ts'
import { entriesOf, itemsOf, type OpenApiDocument, shorten, stringOrNull } from './document.ts'
import { expandSchema } from './expand-schema.ts'
import { type OpenApiParameter, type ParameterLocation, PARAMETER_LOCATIONS, STYLES } from './operation.ts'
import { isJsonType } from './read-body.ts'

export interface ReadParameter {
  parameter: OpenApiParameter
  /** The schema of the parameter that clients see. */
  schema: Json
}

/** Reads the parameters of an operation; a later list overrides an earlier list. */
export function readParameters(
  lists: readonly (Json | undefined)[],
  document: OpenApiDocument,
  where: string,
): ReadParameter[] {
  const byPlace = new Map<string, ReadParameter>()
  for (const entry of lists.flatMap(itemsOf)) {
    const object = document.object(entry, where)
    const read = object === null ? null : readParameter(object, document, where)
    if (read !== null) byPlace.set(`${read.parameter.in} ${read.parameter.name}`, read)
  }
  return [...byPlace.values()]
}

function readParameter(object: JsonObject, document: OpenApiDocument, where: string): ReadParameter | null {
  const name = stringOrNull(object.name)
  if (name === null || name.length > LONGEST_NAME) {
    document.fault(where, `a parameter without a name, or with one of more than ${LONGEST_NAME} characters`)
    return null
  }
  const place = PARAMETER_LOCATIONS.find((each) => each === object.in)
  if (place === undefined) {
    document.fault(
      where,
      `the parameter \`${shorten(name)}\` in ${JSON.stringify(object.in ?? null)}, which cannot be sent`,
    )
    return null
  }
  if (!isSendable(place, name)) {
    if (place !== 'header' || !LEFT_TO_OTHERS.has(headerKey(name))) {
      document.warnings.push(`${where}: the ${place} \`${shorten(name)}\`, which tools cannot set: left out`)
    }
    return null
  }
  const found = readForm(object, place, document, `${where}, parameter \`${shorten(name)}\``)
  if (found === null) return null
  const { schema, ...form } = found
  const parameter = { in: place, name, required: place === 'path' || object.required === true, ...form }
  return { parameter, schema: described(schema, object) }
}

/** Reads the style and the schema of a parameter. */
function readForm(
  object: JsonObject,
  place: ParameterLocation,
  document: OpenApiDocument,
  where: string,
): (Pick<OpenApiParameter, 'style' | 'explode' | 'keys'> & { schema: Json }) | null {
  const use = { where, isSent: true }
  if (isObject(object.content)) {
    const json = entriesOf(object.content).find(([type]) => isJsonType(type))?.[1]
    if (isObject(json)) {
      return { style: 'json', explode: false, keys: null, schema: expandSchema(json.schema, document, use) }
    }
    document.fault(where, 'content other than JSON')
    return null
  }
  const styles = STYLES[place]
  const style = object.style === undefined ? styles[0] : styles.find((each) => each === object.style)
  if (style === undefined) {
    document.fault(where, `the style ${JSON.stringify(object.style)}, which a ${place} cannot have`)
    return null
  }
  const schema = expandSchema(object.schema, document, use)
  const explode = typeof object.explode === 'boolean' ? object.explode : style === 'form'
  return { style, explode, keys: keysOf(schema), schema }
}

/** Returns the names that an object may have; null when the document leaves them open. */
function keysOf(schema: Json): string[] | null {
  if (!isObject(schema)) return null
  const { properties, additionalProperties: more } = schema
  if (more === true || isObject(more) || !isObject(properties)) return more === false ? [] : null
  return Object.keys(properties)
}

function described(schema: Json, { description, deprecated, example, examples }: JsonObject): Json {
  if (!isObject(schema)) return schema
  const text = stringOrNull(schema.description) ?? stringOrNull(description)
  const [, first] = entriesOf(examples)[0] ?? []
  const shown = example ?? (isObject(first) ? first.value : undefined)
  const isShort = shown !== undefined && shown !== null && JSON.stringify(shown).length <= LONGEST_EXAMPLE
  return {
    ...schema,
    ...(text !== null && { description: text }),
    ...(deprecated === true && { deprecated }),
    ...(isShort && { examples: [shown] }),
  }
}

/** Returns whether a tool may set this parameter. */
function isSendable(place: ParameterLocation, name: string): boolean {
  if (place !== 'header' && place !== 'cookie') return true
  if (!/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return false
  const key = headerKey(name)
  if (place === 'cookie') return true
  return !LEFT_TO_OTHERS.has(key) && !OWN.has(key) && !/^(x-forwarded-|mcp-|proxy-|sec-)/.test(key)
}

/** Servers may treat these spellings as the same header. */
function headerKey(name: string): string {
  return name.toLowerCase().replaceAll(/[_.]/g, '-')
}

/** OpenAPI says that parameters of these names are ignored. */
const LEFT_TO_OTHERS = new Set(['accept', 'authorization', 'content-type'])
/** Headers about the connection, the message or the client. */
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
const LONGEST_EXAMPLE = 200
