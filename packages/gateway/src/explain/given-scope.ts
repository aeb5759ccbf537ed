import { isObject } from '@portico/http/json'
import { Duration, Timestamp, type Value } from '@portico/cel'
import type { VariableType } from '@portico/cel/declare'
import { KeptHeaders } from '../pipeline/views/record-scope.ts'
import type { RecordedHeaders } from '../telemetry/recorder/record.ts'

type Variables = Readonly<Record<string, VariableType>>
type ScopeValue = Value | object | undefined

/** Converts variables that a user wrote as JSON to a scope for expressions; `problem` says which value is invalid. */
export function givenScope(given: unknown, variables: Variables): { scope: object } | { problem: string } {
  if (!isObject(given)) return { problem: 'variables: expected an object, such as {"request": {"method": "GET"}}' }
  try {
    const completed = { ...given, ...(isObject(given['request']) && { request: completeRequest(given['request']) }) }
    return { scope: { ...fieldsOf(completed, new Map(Object.entries(variables)), 'variables'), random: () => 0 } }
  } catch (error) {
    if (error instanceof InvalidVariable) return { problem: error.message }
    throw error
  }
}

class InvalidVariable extends Error {}

/** Completes the parts of a request that follow from other parts, such as the path from the URL. */
function completeRequest(request: Record<string, unknown>): Record<string, unknown> {
  const { uri, host = 'localhost', scheme = 'http', headers = {} } = request
  const target = request['pathAndQuery'] ?? request['path']
  const url = typeof uri === 'string' ? URL.parse(uri) : null
  const pathAndQuery = target ?? (url === null ? '/' : url.pathname + url.search)
  const path = typeof pathAndQuery === 'string' ? pathAndQuery.split('?', 1)[0] : undefined
  return {
    method: 'GET',
    version: 'HTTP/1.1',
    uri: `${stringOrEmpty(scheme)}://${stringOrEmpty(host)}${stringOrEmpty(pathAndQuery)}`,
    host: url?.host ?? host,
    scheme: url?.protocol.replace(':', '') ?? scheme,
    pathAndQuery,
    startTime: '1970-01-01T00:00:00Z',
    ...request,
    headers,
    path: request['path'] ?? path,
  }
}

function fieldsOf(given: Record<string, unknown>, types: ReadonlyMap<string, VariableType>, at: string): object {
  const entries = Object.entries(given).map(([name, value]): [string, ScopeValue] => {
    const type = types.get(name)
    if (type === undefined) throw new InvalidVariable(`${at}.${name}: expected one of ${[...types.keys()].join(', ')}`)
    return [name, valueOf(value, type, `${at}.${name}`)]
  })
  return Object.fromEntries(entries)
}

function valueOf(given: unknown, type: VariableType, at: string): ScopeValue {
  if (given === null || given === undefined) return undefined
  switch (type.kind) {
    case 'struct':
      if (!isObject(given)) throw new InvalidVariable(`${at}: expected an object`)
      return fieldsOf(given, type.fields, at)
    case 'headers':
      return new KeptHeaders(headersOf(given, at))
    case 'value':
      return type.type === 'dyn'
        ? given
        : scalarOf(
            given,
            type.type.map(({ name }) => name),
            at,
          )
  }
}

function headersOf(given: unknown, at: string): RecordedHeaders {
  if (!isObject(given)) throw new InvalidVariable(`${at}: expected an object of strings`)
  const lines = Object.entries(given).map(([name, value]): [string, string | string[]] => {
    const list = Array.isArray(value) ? (value as unknown[]) : [value]
    if (!list.every((line) => typeof line === 'string')) {
      throw new InvalidVariable(`${at}.${name}: expected a string, or a list of strings`)
    }
    return [name.toLowerCase(), Array.isArray(value) ? list : (list[0] ?? '')]
  })
  return Object.fromEntries(lines)
}

function scalarOf(given: unknown, names: readonly string[], at: string): Value {
  for (const name of names) {
    const made = SCALARS.get(name)?.(given)
    if (made !== undefined) return made
  }
  throw new InvalidVariable(`${at}: expected ${names.map((name) => WORDS.get(name) ?? name).join(' or ')}`)
}

const SCALARS = new Map<string, (given: unknown) => Value | undefined>([
  ['string', (given) => (typeof given === 'string' ? given : undefined)],
  ['bool', (given) => (typeof given === 'boolean' ? given : undefined)],
  ['int', (given) => (Number.isSafeInteger(given) ? (given as number) : undefined)],
  ['double', (given) => (typeof given === 'number' ? given : undefined)],
  ['bytes', (given) => (typeof given === 'string' ? Buffer.from(given) : undefined)],
  ['google.protobuf.Timestamp', (given) => timestampOf(given)],
  ['google.protobuf.Duration', (given) => (typeof given === 'number' ? Duration.fromMillis(given * 1000) : undefined)],
])

const WORDS = new Map([
  ['string', 'a string'],
  ['bool', 'true or false'],
  ['int', 'a whole number'],
  ['double', 'a number'],
  ['bytes', 'a string'],
  ['google.protobuf.Timestamp', 'a time, such as "2026-01-31T12:00:00Z"'],
  ['google.protobuf.Duration', 'a number of seconds'],
])

function timestampOf(given: unknown): Timestamp | undefined {
  const millis = typeof given === 'string' ? Date.parse(given) : NaN
  return Number.isNaN(millis) ? undefined : Timestamp.fromMillis(millis)
}

/** The text; other values are reported later as invalid. */
function stringOrEmpty(given: unknown): string {
  return typeof given === 'string' ? given : ''
}
