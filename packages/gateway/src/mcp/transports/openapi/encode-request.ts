import {
  type OpenApiOperation,
  type OpenApiParameter,
  PARAMETER_LOCATIONS,
} from '../../../formats/openapi/operation.ts'
import { isObject, type Json, type JsonObject } from '@portico/http/json'
import { type ApiBody, encodeBody } from './encode-body.ts'
import { encodeInCookie, encodeInHeader, encodeInPath, encodeInQuery } from './encode-parameter.ts'
import { BadArgument, short } from './parameter-text.ts'

/** The request to the API for one tool call. */
export interface ApiRequest {
  method: string
  target: string
  headers: [name: string, value: string][]
  /** The pairs of the `Cookie` header. */
  cookies: string[]
  accept: string
  body: ApiBody | null
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
  const cookies = cookiesOf(operation, given.valueOf)
  if (cookies instanceof BadArgument) return cookies
  const body = operation.body === null || given.body === undefined ? null : encodeBody(operation.body, given.body)
  if (body instanceof BadArgument) return body
  const target = query.length === 0 ? path : `${path}?${query.join('&')}`
  if (target.length > LONGEST_TARGET) return new BadArgument('the arguments are too long for a URL')
  return { method: operation.method, target, headers, cookies, accept: operation.accept, body }
}

type ValueOf = (parameter: OpenApiParameter) => Json | undefined

/** Returns the argument of each parameter; arguments that the operation does not declare are rejected. */
function sortArguments(
  { parameters, body }: OpenApiOperation,
  input: Json,
): { valueOf: ValueOf; body: Json | undefined } | BadArgument {
  if (!isObject(input)) return new BadArgument('the arguments must be an object')
  const groups: Partial<Record<string, JsonObject>> = {}
  for (const [key, value] of Object.entries(input)) {
    const place = PARAMETER_LOCATIONS.find((each) => each === key)
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
    const parameter = parameters.find((each) => each.in === 'path' && each.name === piece.parameter)
    const value = parameter === undefined ? undefined : valueOf(parameter)
    if (parameter === undefined || value === undefined) return new BadArgument(`\`${piece.parameter}\` is missing`)
    const encoded = encodeInPath(parameter, value)
    if (encoded instanceof BadArgument) return encoded
    text += encoded
  }
  // Several parameters may form one path segment together.
  if (!text.split('/').some((segment) => segment === '.' || segment === '..')) return text
  return new BadArgument('the arguments form a path with the segment `.` or `..`')
}

function queryOf({ parameters }: OpenApiOperation, valueOf: ValueOf): string[] | BadArgument {
  return partsOf(parameters, 'query', valueOf, encodeInQuery)
}

function cookiesOf({ parameters }: OpenApiOperation, valueOf: ValueOf): string[] | BadArgument {
  return partsOf(parameters, 'cookie', valueOf, encodeInCookie)
}

/** Encodes the parameters of a location in which each may become several pairs, none with the name of another parameter. */
function partsOf(
  parameters: readonly OpenApiParameter[],
  place: OpenApiParameter['in'],
  valueOf: ValueOf,
  encode: (parameter: OpenApiParameter, value: Json, others: readonly string[]) => string[] | BadArgument,
): string[] | BadArgument {
  const own = parameters.filter((parameter) => parameter.in === place)
  const parts: string[] = []
  for (const parameter of own) {
    const value = valueOf(parameter)
    if (value === undefined) continue
    const others = own.flatMap(({ name }) => (name === parameter.name ? [] : name))
    const encoded = encode(parameter, value, others)
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

const LONGEST_TARGET = 32 * 1024
