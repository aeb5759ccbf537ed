import { kindOfStatus, plainError } from '../../response/chat-error.ts'
import { isObject, parseJson, textAt } from '@portico/http/json'
import type { ChatError, JsonObject } from '../../middle.ts'

/** Google's errors: `{error: {code, message, status}}`, or a list of one such. */
export function decodeError(status: number, body: Buffer): ChatError {
  const parsed = parseJson(body.toString('utf8'))?.value
  const outer = Array.isArray(parsed) ? parsed[0] : parsed
  const inner = isObject(outer) ? outer.error : undefined
  return isObject(inner) ? { ...errorOf(inner, status), status } : plainError(status, body)
}

/** Decodes an error; `status` is used when the error has no code itself. */
export function errorOf(error: JsonObject, status: number): ChatError {
  const code = textAt(error, 'status')
  const own = typeof error.code === 'number' && error.code >= 400 && error.code < 600 ? error.code : status
  return {
    status: own,
    kind: kindByCode.get(code ?? '') ?? kindOfStatus(own),
    message: textAt(error, 'message') ?? `the provider answered with status ${own}`,
    ...(code !== undefined && { code }),
  }
}

const kindByCode: ReadonlyMap<string, ChatError['kind']> = new Map([
  ['INVALID_ARGUMENT', 'invalid'],
  ['FAILED_PRECONDITION', 'invalid'],
  ['OUT_OF_RANGE', 'invalid'],
  ['NOT_FOUND', 'notFound'],
  ['PERMISSION_DENIED', 'permission'],
  ['UNAUTHENTICATED', 'authentication'],
  ['RESOURCE_EXHAUSTED', 'rateLimit'],
  ['UNAVAILABLE', 'overloaded'],
  ['DEADLINE_EXCEEDED', 'timeout'],
])
