import { HeaderBlock } from '../header-block.ts'
import { SP, TAB, TARGET } from '../http1/chars.ts'
import { isForwardingHeader } from '../field-rules.ts'
import type { HeadProblem } from '../http1/head.ts'
import { readTarget } from '../http1/target.ts'

/** The head of one request, read from the fields of a HEADERS frame. */
export class RequestHead {
  method = ''
  authority = ''
  /** Path and query; empty for CONNECT. */
  target = ''
  /** Bytes of the body as in Source. */
  length = 0
  teTrailers = false
  expectContinue = false
  /** A header that names the client's address or scheme was sent, under any alias. */
  claimsForwarding = false
  readonly headers: HeaderBlock

  constructor(headers: HeaderBlock) {
    this.headers = headers
  }
}

/**
 * Before this is called, the runtime has refused unknown or repeated pseudo-headers and fields of the connection, and
 * has dropped, without a word, fields with a malformed name or with CR, LF or NUL in the value. Here stand the rules
 * that HTTP/1 requests are held to as well.
 */
export function readRequestHead(
  raw: readonly string[],
  endsWithHead: boolean,
  maxSize: number,
): RequestHead | HeadProblem {
  const lines: number[] = []
  // The fields become HTTP/1 lines at once: a request that goes on over HTTP/1 is then forwarded in one piece.
  let text = ''
  let method = ''
  let authority: string | null = null
  let host: string | null = null
  let path: string | null = null
  let scheme: string | null = null
  let cookie: string | null = null
  let contentLength = -1
  let teTrailers = false
  let expectContinue = false
  let claimsForwarding = false
  let size = 0

  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!
    const value = raw[i + 1]!
    size += name.length + value.length + FIELD_OVERHEAD
    if (isPadded(value)) return BAD_HEADER_VALUE
    switch (fieldKinds.get(name) ?? ORDINARY) {
      case METHOD:
        method = value
        continue
      case PATH:
        path = value
        continue
      case AUTHORITY:
        authority = value
        continue
      case SCHEME:
        scheme = value
        continue
      case HOST:
        if (host !== null) return SECOND_HOST
        host = value
        continue
      case COOKIE:
        // Crumbs are one field again (RFC 9113 section 8.2.3).
        cookie = cookie === null ? value : cookie + '; ' + value
        continue
      case TE:
        teTrailers = true
        continue
      case EXPECT:
        if (value.toLowerCase() !== '100-continue') return UNKNOWN_EXPECTATION
        expectContinue = true
        continue
      case DROPPED:
        continue
      case CONTENT_LENGTH:
        if (contentLength !== -1) return SECOND_CONTENT_LENGTH
        if (!/^[0-9]{1,15}$/.test(value)) return BAD_CONTENT_LENGTH
        contentLength = Number(value)
        text += addLine(lines, text.length, name, String(contentLength))
        continue
      default:
        if (!claimsForwarding && isForwardingHeader(name)) claimsForwarding = true
    }
    text += addLine(lines, text.length, name, value)
  }
  // The runtime holds clients to the limit only once they have acknowledged it.
  if (size > maxSize) return HEAD_TOO_LARGE
  if (cookie !== null) text += addLine(lines, text.length, 'cookie', cookie)

  if (authority !== null && host !== null && authority.toLowerCase() !== host.toLowerCase()) return MISMATCH
  if (method.length > MAX_METHOD) return BAD_METHOD
  const connect = method === 'CONNECT'
  if (connect) {
    if (authority === null || path !== null || scheme !== null) return BAD_TARGET
  } else {
    if (path === null || !isPath(path)) return BAD_TARGET
    if (path.length > MAX_TARGET) return TARGET_TOO_LONG
    if (scheme === null || !/^https?$/i.test(scheme)) return BAD_SCHEME
  }
  const where = readTarget(method, connect ? authority! : path!, connect ? host : (authority ?? host))
  if ('problem' in where) return { status: 400, code: where.problem }

  const head = new RequestHead(new HeaderBlock(text, lines))
  head.method = method
  head.authority = where.authority
  head.target = where.target
  head.length = endsWithHead ? 0 : contentLength
  head.teTrailers = teTrailers
  head.expectContinue = expectContinue && !endsWithHead
  head.claimsForwarding = claimsForwarding
  return head
}

/** A field that begins or ends with a blank is malformed (RFC 9113 section 8.2.1). */
export function isPadded(value: string): boolean {
  return isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1))
}

function isBlank(code: number): boolean {
  return code === SP || code === TAB
}

function addLine(lines: number[], at: number, name: string, value: string): string {
  const nameEnd = at + name.length
  const valueEnd = nameEnd + 2 + value.length
  lines.push(at, nameEnd, nameEnd + 2, valueEnd, valueEnd + 2)
  return name + ': ' + value + '\r\n'
}

/** Origin form or `*`; an absolute URI has no place here. */
function isPath(path: string): boolean {
  if (path.charCodeAt(0) !== SLASH) return path === '*'
  for (let i = 1; i < path.length; i++) if (TARGET[path.charCodeAt(i)] !== 1) return false
  return true
}

const ORDINARY = 0
const METHOD = 1
const PATH = 2
const AUTHORITY = 3
const SCHEME = 4
const HOST = 5
const COOKIE = 6
const TE = 7
const EXPECT = 8
const CONTENT_LENGTH = 9
const DROPPED = 10

const fieldKinds = new Map<string, number>([
  [':method', METHOD],
  [':path', PATH],
  [':authority', AUTHORITY],
  [':scheme', SCHEME],
  // Extended CONNECT is not offered.
  [':protocol', DROPPED],
  ['host', HOST],
  ['cookie', COOKIE],
  ['te', TE],
  ['expect', EXPECT],
  ['content-length', CONTENT_LENGTH],
  ['http2-settings', DROPPED],
  ['proxy-authenticate', DROPPED],
  ['trailer', DROPPED],
])

const SLASH = 47
const MAX_METHOD = 32
/** What a field counts beyond its bytes (RFC 9113 section 6.5.2). */
const FIELD_OVERHEAD = 32
const MAX_TARGET = 32_768

const problem = (status: HeadProblem['status'], code: string): HeadProblem => Object.freeze({ status, code })

const HEAD_TOO_LARGE = problem(431, 'head_too_large')
const BAD_HEADER_VALUE = problem(400, 'bad_header_value')
const BAD_METHOD = problem(400, 'bad_method')
const BAD_TARGET = problem(400, 'bad_target')
const TARGET_TOO_LONG = problem(414, 'target_too_long')
const BAD_SCHEME = problem(400, 'bad_scheme')
const SECOND_HOST = problem(400, 'second_host')
const MISMATCH = problem(400, 'authority_mismatch')
const UNKNOWN_EXPECTATION = problem(417, 'unknown_expectation')
const SECOND_CONTENT_LENGTH = problem(400, 'second_content_length')
const BAD_CONTENT_LENGTH = problem(400, 'bad_content_length')
