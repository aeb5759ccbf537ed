import { HeaderBlock } from '../header-block.ts'
import { SP, TAB, TARGET } from '../http1/chars.ts'
import { isForwardingHeader } from '../field-rules.ts'
import { type HeadProblem, MAX_METHOD } from '../http1/head.ts'
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
  const fields = new Fields()
  const bad = fields.read(raw, maxSize)
  if (bad !== null) return bad
  const { method, authority, host, path } = fields
  if (authority !== null && host !== null && authority.toLowerCase() !== host.toLowerCase()) return MISMATCH
  if (method.length > MAX_METHOD) return BAD_METHOD
  const where = method === 'CONNECT' ? connectTarget(fields) : originTarget(fields, path)
  if ('status' in where) return where
  if ('problem' in where) return { status: 400, code: where.problem }

  const head = new RequestHead(fields.toBlock())
  head.method = method
  head.authority = where.authority
  head.target = where.target
  head.length = endsWithHead ? 0 : fields.contentLength
  head.teTrailers = fields.teTrailers
  head.expectContinue = fields.expectContinue && !endsWithHead
  head.claimsForwarding = fields.claimsForwarding
  return head
}

function connectTarget({ authority, path, scheme, host }: Fields): HeadProblem | ReturnType<typeof readTarget> {
  if (authority === null || path !== null || scheme !== null) return BAD_TARGET
  return readTarget('CONNECT', authority, host)
}

function originTarget(fields: Fields, path: string | null): HeadProblem | ReturnType<typeof readTarget> {
  if (path === null || !isPath(path)) return BAD_TARGET
  if (path.length > MAX_TARGET) return TARGET_TOO_LONG
  if (fields.scheme === null || !/^https?$/i.test(fields.scheme)) return BAD_SCHEME
  return readTarget(fields.method, path, fields.authority ?? fields.host)
}

/** What the fields of a head say, before it is judged as a whole. */
export class Fields {
  method = ''
  authority: string | null = null
  host: string | null = null
  path: string | null = null
  scheme: string | null = null
  contentLength = -1
  teTrailers = false
  expectContinue = false
  claimsForwarding = false
  #cookie: string | null = null
  /** The fields become HTTP/1 lines at once: a request that goes on over HTTP/1 is then forwarded in one piece. */
  #text = ''
  readonly #lines: number[] = []

  read(raw: readonly string[], maxSize: number): HeadProblem | null {
    let size = 0
    for (let i = 0; i + 1 < raw.length; i += 2) {
      const name = raw[i] ?? ''
      const value = raw[i + 1] ?? ''
      size += name.length + value.length + FIELD_OVERHEAD
      if (isPadded(value)) return BAD_HEADER_VALUE
      const problem = this.#take(name, value)
      if (problem !== null) return problem
    }
    // The runtime holds clients to the limit only once they have acknowledged it.
    return size > maxSize ? HEAD_TOO_LARGE : null
  }

  toBlock(): HeaderBlock {
    if (this.#cookie !== null) this.#addLine('cookie', this.#cookie)
    return new HeaderBlock(this.#text, this.#lines)
  }

  #take(name: string, value: string): HeadProblem | null {
    switch (fieldKinds.get(name) ?? ORDINARY) {
      case METHOD:
        this.method = value
        return null
      case PATH:
        this.path = value
        return null
      case AUTHORITY:
        this.authority = value
        return null
      case SCHEME:
        this.scheme = value
        return null
      case HOST:
        if (this.host !== null) return SECOND_HOST
        this.host = value
        return null
      case COOKIE:
        // Crumbs are one field again (RFC 9113 section 8.2.3).
        this.#cookie = this.#cookie === null ? value : this.#cookie + '; ' + value
        return null
      case TE:
        this.teTrailers = true
        return null
      case EXPECT:
        if (value.toLowerCase() !== '100-continue') return UNKNOWN_EXPECTATION
        this.expectContinue = true
        return null
      case DROPPED:
        return null
      case CONTENT_LENGTH:
        if (this.contentLength !== -1) return SECOND_CONTENT_LENGTH
        if (!/^[0-9]{1,15}$/.test(value)) return BAD_CONTENT_LENGTH
        this.contentLength = Number(value)
        this.#addLine(name, String(this.contentLength))
        return null
      default:
        if (!this.claimsForwarding && isForwardingHeader(name)) this.claimsForwarding = true
        this.#addLine(name, value)
        return null
    }
  }

  #addLine(name: string, value: string): void {
    const at = this.#text.length
    const nameEnd = at + name.length
    const valueEnd = nameEnd + 2 + value.length
    this.#lines.push(at, nameEnd, nameEnd + 2, valueEnd, valueEnd + 2)
    this.#text += name + ': ' + value + '\r\n'
  }
}

/** A field that begins or ends with a blank is malformed (RFC 9113 section 8.2.1). */
export function isPadded(value: string): boolean {
  return isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1))
}

function isBlank(code: number): boolean {
  return code === SP || code === TAB
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
