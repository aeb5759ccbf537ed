import type { ChatError } from './middle.ts'

/** What a status says, where the provider does not say more. */
export function kindOfStatus(status: number): ChatError['kind'] {
  return KINDS.get(status) ?? (status >= 400 && status < 500 ? 'invalid' : 'api')
}

/** No code of a vendor: made here. */
export const STREAM_BROKEN = 'upstream_stream_broken'

/** A stream that stopped in the middle, or that nobody can read. */
export function brokenStream(message: string): ChatError {
  return { status: 502, kind: 'api', message, code: STREAM_BROKEN }
}

/** The text of an error body in which no format was found: short plain texts are kept, pages of proxies are not. */
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
