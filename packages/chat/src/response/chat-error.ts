import type { ChatError } from '../middle.ts'

/** The error kind that an HTTP status stands for, used when the provider's error body names no kind. */
export function kindOfStatus(status: number): ChatError['kind'] {
  return KINDS.get(status) ?? (status >= 400 && status < 500 ? 'invalid' : 'api')
}

/** An error code of the gateway, not of a vendor. */
export const STREAM_BROKEN = 'upstream_stream_broken'

/** The error for a stream that stopped before its end, or whose bytes cannot be parsed. */
export function brokenStream(message: string): ChatError {
  return { status: 502, kind: 'api', message, code: STREAM_BROKEN }
}

/** The error for a body in no known format. Short plain text becomes the message; HTML pages of proxies do not. */
export function plainError(status: number, body: Buffer): ChatError {
  const text = body.length > MAX_PLAIN_BYTES ? '' : body.toString('utf8').trim()
  const isPlain = text !== '' && !/^[<{[]/.test(text)
  return { status, kind: kindOfStatus(status), message: isPlain ? text : `the provider answered with status ${status}` }
}

const KINDS: ReadonlyMap<number, ChatError['kind']> = new Map([
  [400, 'invalid'],
  [401, 'authentication'],
  [403, 'permission'],
  [404, 'notFound'],
  [408, 'timeout'],
  [413, 'tooLarge'],
  [429, 'rateLimit'],
  [503, 'overloaded'],
  [504, 'timeout'],
  [529, 'overloaded'],
])

const MAX_PLAIN_BYTES = 1000

/** How a stream of a provider ended early, as records name it. */
export type StreamFaultCode = 'connection_lost' | 'stream_incomplete' | 'stream_unreadable' | 'stream_error'

/** A fault of a provider after its stream had begun. */
export interface StreamFault {
  code: StreamFaultCode
  error: ChatError
}

/**
 * A fault of a stream. `code` tells how the gateway detected it; an error sent by the provider itself is a
 * `stream_error`.
 */
export function streamFault(error: ChatError, code: Exclude<StreamFaultCode, 'stream_error'>): StreamFault {
  return { code: error.code === STREAM_BROKEN ? code : 'stream_error', error }
}
