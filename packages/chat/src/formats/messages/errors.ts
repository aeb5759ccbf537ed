import { kindOfStatus, plainError } from '../../response/chat-error.ts'
import { isObject, parseJsonObject, textAt } from '@portico/http/json'
import type { ChatError, JsonObject } from '../../middle.ts'

export function decodeError(status: number, body: Buffer): ChatError {
  const parsed = parseJsonObject(body.toString('utf8'))
  const error = parsed === null ? null : errorOfBody(parsed)
  if (error === null) return plainError(status, body)
  return { ...error, status, kind: error.kind === 'api' ? kindOfStatus(status) : error.kind }
}

/** The error in a body, or in an event of a stream; null when there is none. */
export function errorOfBody(body: JsonObject): ChatError | null {
  if (!isObject(body.error)) return null
  const type = textAt(body.error, 'type')
  const [status, kind] = (type === undefined ? undefined : KINDS.get(type)) ?? [502, 'api']
  const message = textAt(body.error, 'message') ?? 'the provider answered with an error'
  return { status, kind, message, ...(type !== undefined && { code: type }) }
}

export function encodeError(error: ChatError): { status: number; body: JsonObject } {
  return { status: error.status, body: errorBody(error) }
}

export function errorBody({ kind, message, code, details }: ChatError): JsonObject {
  const type = code !== undefined && KINDS.has(code) ? code : TYPES[kind]
  return { type: 'error', error: { type, message, ...(details !== undefined && { details }) } }
}

const KINDS: ReadonlyMap<string, [status: number, kind: ChatError['kind']]> = new Map([
  ['invalid_request_error', [400, 'invalid']],
  ['authentication_error', [401, 'authentication']],
  ['billing_error', [402, 'permission']],
  ['permission_error', [403, 'permission']],
  ['not_found_error', [404, 'notFound']],
  ['request_too_large', [413, 'tooLarge']],
  ['rate_limit_error', [429, 'rateLimit']],
  ['api_error', [500, 'api']],
  ['timeout_error', [504, 'timeout']],
  ['overloaded_error', [529, 'overloaded']],
])

const TYPES: Readonly<Record<ChatError['kind'], string>> = {
  invalid: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  notFound: 'not_found_error',
  tooLarge: 'request_too_large',
  rateLimit: 'rate_limit_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  api: 'api_error',
}
