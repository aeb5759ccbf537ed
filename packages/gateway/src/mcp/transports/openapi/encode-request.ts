import { type OpenApiOperation, type OpenApiParameter, PARAMETER_PLACES } from '../../../formats/openapi/operation.ts'
import { isObject, type Json, type JsonObject } from '../../../wire/json.ts'
import { encodeInHeader, encodeInPath, encodeInQuery } from './encode-parameter.ts'
import { BadArgument, short } from './parameter-text.ts'

/** A call of a tool as a request to the API. */
export interface ApiRequest {
  method: string
  target: string
  headers: [name: string, value: string][]
  body: { mediaType: string; bytes: Buffer } | null
}

export function encodeRequest(operation: OpenApiOperation, input: Json | undefined): ApiRequest | BadArgument {
  const given = sortArguments(operation, input ?? {})
  if (given instanceof BadArgument) return given
  const path = pathOf(operation, given.valueOf)
  if (path instanceof BadArgument) return path
  const query = queryOf(operation, given.valueOf)
  if (query instanceof BadArgument) return query
  const headers = headersOf(operation, given.valueOf)
  if (headers instanceof BadArgument) return headers
  const body = bodyOf(operation, given.body)
  if (body instanceof BadArgument) return body
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`
  if (target.length > LONGEST_TARGET) return new BadArgument('the arguments are too long for a URL')
  return { method: operation.method, target, headers, body }
}

type ValueOf = (parameter: OpenApiParameter) => Json | undefined

/** What is given for each parameter, and nothing that the operation does not know. */
function sortArguments(
  { parameters, body }: OpenApiOperation,
  input: Json,
): { valueOf: ValueOf; body: Json | undefined } | BadArgument {
  if (!isObject(input)) return new BadArgument('the arguments must be an object')
  const groups: Partial<Record<string, JsonObject>> = {}
  for (const [key, value] of Object.entries(input)) {
    const place = PARAMETER_PLACES.find((each) => each === key)
    if (key === 'body' && body !== null) continue
    const own = parameters.filter((parameter) => parameter.in === place)
    if (own.length === 0) return new BadArgument(`unknown argument \`${short(key)}\``)
    if (value === null) continue
    if (!isObject(value)) return new BadArgument(`\`${key}\` must be an object`)
    const unknown = Object.keys(value).find((name) => !own.some((parameter) => parameter.name === name))
    if (unknown !== undefined) return new BadArgument(`unknown argument \`${short(unknown)}\` in \`${key}\``)
    groups[key] = value
  }
  const valueOf: ValueOf = ({ in: place, name }) => {
    const group = groups[place]
    const value = group !== undefined && Object.hasOwn(group, name) ? group[name] : undefined
    return value ?? undefined
  }
  const missing = parameters.find((parameter) => parameter.required && valueOf(parameter) === undefined)
  if (missing !== undefined) return new BadArgument(`\`${missing.name}\` in \`${missing.in}\` is missing`)
  if (body?.required === true && input.body === undefined) return new BadArgument('`body` is missing')
  return { valueOf, body: input.body }
}

function pathOf({ path, parameters }: OpenApiOperation, valueOf: ValueOf): string | BadArgument {
  let text = ''
  for (const piece of path) {
    if (typeof piece === 'string') {
      text += piece
      continue
    }
    const parameter = parameters.find((each) => each.in === 'path' && each.name === piece.parameter)!
    const encoded = encodeInPath(parameter, valueOf(parameter)!)
    if (encoded instanceof BadArgument) return encoded
    text += encoded
  }
  // Several parameters may make up one segment together.
  if (!text.split('/').some((segment) => segment === '.' || segment === '..')) return text
  return new BadArgument('the arguments make up a path with `.` or `..` as a segment')
}

function queryOf({ parameters }: OpenApiOperation, valueOf: ValueOf): string[] | BadArgument {
  const own = parameters.filter((parameter) => parameter.in === 'query')
  const parts: string[] = []
  for (const parameter of own) {
    const value = valueOf(parameter)
    if (value === undefined) continue
    const others = own.flatMap(({ name }) => (name === parameter.name ? [] : name))
    const encoded = encodeInQuery(parameter, value, others)
    if (encoded instanceof BadArgument) return encoded
    parts.push(...encoded)
  }
  return parts
}

function headersOf({ parameters }: OpenApiOperation, valueOf: ValueOf): ApiRequest['headers'] | BadArgument {
  const headers: ApiRequest['headers'] = []
  for (const parameter of parameters) {
    const value = parameter.in === 'header' ? valueOf(parameter) : undefined
    if (value === undefined) continue
    const encoded = encodeInHeader(parameter, value)
    if (encoded instanceof BadArgument) return encoded
    headers.push([parameter.name.toLowerCase(), encoded])
  }
  return headers
}

function bodyOf({ body }: OpenApiOperation, value: Json | undefined): ApiRequest['body'] | BadArgument {
  if (body === null || value === undefined) return null
  const { mediaType } = body
  if (body.as === 'json') return { mediaType, bytes: Buffer.from(JSON.stringify(value)) }
  if (typeof value !== 'string' || value.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) {
    return new BadArgument('`body` must be a text in base64')
  }
  return { mediaType, bytes: Buffer.from(value, 'base64') }
}

const LONGEST_TARGET = 32 * 1024
