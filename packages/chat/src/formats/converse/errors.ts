import { kindOfStatus, plainError } from '../../response/chat-error.ts'
import { parseJsonObject, textAt } from '@portico/http/json'
import type { ChatError, JsonObject } from '../../middle.ts'

/** Decodes `{message}`, or `{Message}` from a proxy in front of the service; the code is `__type`, if sent. */
export function decodeError(status: number, body: Buffer): ChatError {
  const parsed = parseJsonObject(body.toString('utf8'))
  const message = parsed === null ? undefined : messageOf(parsed)
  if (parsed === null || message === undefined) return plainError(status, body)
  const code = textAt(parsed, '__type')?.replace(/^.*#/, '').replace(/:.*$/, '')
  return { status, kind: kindOf(code, status), message, ...(code !== undefined && { code }) }
}

/** A message of a stream that is no event: an exception of the service, or an error of the transport. */
export function exceptionOf(headers: ReadonlyMap<string, string>, body: JsonObject | null): ChatError {
  const code = headers.get(':exception-type') ?? headers.get(':error-code')
  const status = statusByException.get((code ?? '').toLowerCase()) ?? 502
  const message = (body === null ? undefined : messageOf(body)) ?? headers.get(':error-message')
  return {
    status,
    kind: kindOf(code, status),
    message: message ?? 'the provider broke off its answer',
    ...(code !== undefined && { code }),
  }
}

function messageOf(body: JsonObject): string | undefined {
  return textAt(body, 'message') ?? textAt(body, 'Message') ?? textAt(body, 'originalMessage')
}

function kindOf(code: string | undefined, status: number): ChatError['kind'] {
  const known = statusByException.get((code ?? '').toLowerCase())
  if (status === 424) return 'api'
  return kindOfStatus(known ?? status)
}

/** Names as headers and bodies write them, in small letters. */
const statusByException: ReadonlyMap<string, number> = new Map([
  ['validationexception', 400],
  ['accessdeniedexception', 403],
  ['resourcenotfoundexception', 404],
  ['modeltimeoutexception', 408],
  ['modelerrorexception', 424],
  ['modelstreamerrorexception', 424],
  ['throttlingexception', 429],
  ['modelnotreadyexception', 429],
  ['servicequotaexceededexception', 429],
  ['internalserverexception', 500],
  ['serviceunavailableexception', 503],
])
