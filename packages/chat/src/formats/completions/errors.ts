import { kindOfStatus, plainError } from '../../response/chat-error.ts'
import { countAt, isObject, objectsAt, parseJson, textAt } from '@portico/http/json'
import type { ChatError, Json, JsonObject } from '../../middle.ts'

export function decodeError(status: number, body: Buffer): ChatError {
  const parsed = parseJson(body.toString('utf8'))
  return (parsed === null ? null : readError(parsed.value, status)) ?? plainError(status, body)
}

/** The error in a 2xx body, or in a chunk of a stream; null when there is none. */
export function errorOfBody(body: JsonObject): ChatError | null {
  if (body.error === undefined || body.error === null) return null
  return readError(body, null) ?? { status: 502, kind: 'api', message: 'the provider answered with an error' }
}

export function encodeError(error: ChatError): { status: number; body: JsonObject } {
  return { status: error.status, body: errorBody(error) }
}

export function errorBody({ kind, message, code, param }: ChatError): JsonObject {
  return { error: { message, type: TYPES[kind], param: param ?? null, code: code ?? null } }
}

/**
 * Reads errors in OpenAI's form, in the form of Google's OpenAI-compatible servers, in that of Voyage, Jina and servers on
 * FastAPI, and as plain text.
 */
function readError(body: Json, status: number | null): ChatError | null {
  const inner = isObject(body)
    ? (body.error ?? body)
    : Array.isArray(body) && isObject(body[0])
      ? body[0].error
      : undefined
  if (typeof inner === 'string') return { status: status ?? 502, kind: kindOfStatus(status ?? 502), message: inner }
  if (!isObject(inner)) return null
  const message = textAt(inner, 'message') ?? detailOf(inner)
  if (message === undefined) return null
  const type = textAt(inner, 'type')
  const code = textAt(inner, 'code') ?? textAt(inner, 'status') ?? type
  const word = [textAt(inner, 'code'), textAt(inner, 'status'), type].find(
    (each) => each !== undefined && KINDS.has(each),
  )
  const kind = word === undefined ? undefined : KINDS.get(word)
  const known = status ?? httpStatus(countAt(inner, 'code')) ?? (kind === undefined ? 502 : STATUSES[kind])
  const param = textAt(inner, 'param')
  return {
    status: known,
    kind: kind ?? kindOfStatus(known),
    message,
    ...(code !== undefined && { code }),
    ...(param !== undefined && { param }),
  }
}

/** `detail` is a text, or a list of faults in the body of the request. */
function detailOf(error: JsonObject): string | undefined {
  const [first] = objectsAt(error, 'detail')
  return textAt(error, 'detail') ?? (first === undefined ? undefined : textAt(first, 'msg'))
}

function httpStatus(code: number | undefined): number | undefined {
  return code !== undefined && code >= 400 && code < 600 ? code : undefined
}

const KINDS: ReadonlyMap<string, ChatError['kind']> = new Map([
  ['invalid_request_error', 'invalid'],
  ['context_length_exceeded', 'invalid'],
  ['content_filter', 'invalid'],
  ['invalid_api_key', 'authentication'],
  ['authentication_error', 'authentication'],
  ['permission_error', 'permission'],
  ['insufficient_permissions', 'permission'],
  ['model_not_found', 'notFound'],
  ['not_found_error', 'notFound'],
  ['rate_limit_error', 'rateLimit'],
  ['rate_limit_exceeded', 'rateLimit'],
  ['insufficient_quota', 'rateLimit'],
  ['requests', 'rateLimit'],
  ['tokens', 'rateLimit'],
  ['overloaded_error', 'overloaded'],
  ['timeout_error', 'timeout'],
  ['server_error', 'api'],
  ['api_error', 'api'],
  ['INVALID_ARGUMENT', 'invalid'],
  ['FAILED_PRECONDITION', 'invalid'],
  ['NOT_FOUND', 'notFound'],
  ['UNAUTHENTICATED', 'authentication'],
  ['PERMISSION_DENIED', 'permission'],
  ['RESOURCE_EXHAUSTED', 'rateLimit'],
  ['UNAVAILABLE', 'overloaded'],
  ['DEADLINE_EXCEEDED', 'timeout'],
])

const STATUSES: Readonly<Record<ChatError['kind'], number>> = {
  invalid: 400,
  authentication: 401,
  permission: 403,
  notFound: 404,
  tooLarge: 413,
  rateLimit: 429,
  overloaded: 503,
  timeout: 504,
  api: 502,
}

const TYPES: Readonly<Record<ChatError['kind'], string>> = {
  invalid: 'invalid_request_error',
  authentication: 'authentication_error',
  permission: 'permission_error',
  notFound: 'not_found_error',
  tooLarge: 'invalid_request_error',
  rateLimit: 'rate_limit_error',
  overloaded: 'overloaded_error',
  timeout: 'timeout_error',
  api: 'api_error',
}
