import type { HeaderBlock } from '../../fields/header-block.ts'
import { TARGET } from '../../http1/chars.ts'
import { type HeadProblem, MAX_METHOD } from '../../http1/head.ts'
import { readTarget } from '../../http1/target.ts'
import { KEY_HEADER, newKey } from '../../websocket/websocket-handshake.ts'
import * as kinds from '../../http2/field-kinds.ts'
import { FieldLines } from '../../http2/field-lines.ts'
import type { FieldSink } from '../../http2/hpack/decode.ts'
import type { Field } from '../../http2/hpack/tables.ts'

/** The head of one request, read from the fields of a HEADERS frame. */
export class RequestHead {
  method = ''
  authority = ''
  /** Path and query; empty for CONNECT. */
  target = ''
  /** Bytes of the body, as in `Source`. */
  length = 0
  /** Whether the stream ended with the head, so that no DATA follows. */
  endsWithHead = false
  teTrailers = false
  expectContinue = false
  /** Whether a header that names the client's address or scheme was sent, in any spelling. */
  claimsForwarding = false
  /** Values of `x-portico-hops`; empty for most requests. */
  hops = ''
  /** The protocol that the stream should carry (RFC 8441), lower case; empty for most requests. */
  upgrade = ''
  /** Whether the stream becomes a tunnel, so that the data after the head is not a body. */
  isTunnel = false
  readonly headers: HeaderBlock

  constructor(headers: HeaderBlock) {
    this.headers = headers
  }
}

/** A request that violates the format of HTTP/2: its stream is reset without a response (RFC 9113 section 8.1.1). */
export const MALFORMED = 'malformed'

/** The fields of a head, before the head is validated as a whole. */
export class Fields extends FieldLines implements FieldSink {
  method = ''
  authority: string | null = null
  host: string | null = null
  path: string | null = null
  scheme: string | null = null
  protocol: string | null = null
  contentLength = -1
  teTrailers = false
  expectContinue = false
  claimsForwarding = false
  hops = ''
  #cookie: string | null = null
  #problem: HeadProblem | typeof MALFORMED | null = null
  /** Whether a regular field has arrived, after which pseudo-headers are invalid. */
  #isPastPseudo = false

  field(field: Field): void {
    if (this.#problem !== MALFORMED) this.#problem = this.#take(field) ?? this.#problem
  }

  /** Validates the whole request, also by the rules of HTTP/1 requests. */
  toHead(endsWithHead: boolean): RequestHead | HeadProblem | typeof MALFORMED {
    if (this.#problem === MALFORMED || !this.#isComplete()) return MALFORMED
    if (this.#problem !== null) return this.#problem
    const { method, authority, host, path } = this
    if (authority !== null && host !== null && authority.toLowerCase() !== host.toLowerCase()) return MISMATCH
    if (method.length > MAX_METHOD || !kinds.isToken(method)) return BAD_METHOD
    const where = path === null ? readTarget(method, authority ?? '', host) : this.#originTarget(path)
    if ('status' in where) return where
    if ('problem' in where) return { status: 400, code: where.problem }
    if (endsWithHead && this.contentLength > 0) return MALFORMED
    const isTunnel = method === 'CONNECT'
    // A length of a CONNECT has no meaning, and parsers disagree on it.
    if (isTunnel && this.contentLength > 0) return CONNECT_WITH_BODY

    if (this.#cookie !== null) this.addLine('cookie', this.#cookie)
    // The gateway adds the key that an HTTP/1.1 client would send: an HTTP/1.1 backend has to prove that it
    // understands.
    if (this.protocol?.toLowerCase() === 'websocket') this.addLine(KEY_HEADER, newKey())
    const head = new RequestHead(this.toHeaders())
    // The HTTP/1 form of an upgrade, so that routes and policies need not distinguish the versions.
    head.method = this.protocol === null ? method : 'GET'
    head.upgrade = this.protocol === null ? '' : this.protocol.toLowerCase()
    head.isTunnel = isTunnel && !endsWithHead
    head.authority = where.authority
    head.target = where.target
    head.endsWithHead = endsWithHead
    head.length = endsWithHead ? 0 : this.contentLength
    head.teTrailers = this.teTrailers
    head.expectContinue = this.expectContinue && !endsWithHead
    head.claimsForwarding = this.claimsForwarding
    head.hops = this.hops
    return head
  }

  /** Returns whether the pseudo-headers are those of a request (RFC 9113 sections 8.3.1 and 8.5). */
  #isComplete(): boolean {
    const { method, authority, host, path, scheme } = this
    if (this.protocol !== null) {
      return method === 'CONNECT' && scheme !== null && path !== null && path !== '' && (authority ?? host) !== null
    }
    if (method === 'CONNECT') return authority !== null && path === null && scheme === null
    return method !== '' && scheme !== null && path !== null && path !== '' && (authority ?? host) !== null
  }

  #originTarget(path: string): HeadProblem | ReturnType<typeof readTarget> {
    if (!isPath(path)) return BAD_TARGET
    if (path.length > MAX_TARGET) return TARGET_TOO_LONG
    if (this.scheme !== 'http' && this.scheme !== 'https' && !/^https?$/i.test(this.scheme ?? '')) return BAD_SCHEME
    return readTarget(this.protocol === null ? this.method : 'GET', path, this.authority ?? this.host)
  }

  #take(field: Field): HeadProblem | typeof MALFORMED | null {
    const { name, value } = field
    const kind = kinds.kindOf(field)
    if (kind >= kinds.ORDINARY) this.#isPastPseudo = true
    else if (this.#isPastPseudo) return MALFORMED
    switch (kind) {
      case kinds.METHOD:
        if (this.method !== '') return MALFORMED
        this.method = value
        return null
      case kinds.PATH:
        if (this.path !== null) return MALFORMED
        this.path = value
        return null
      case kinds.AUTHORITY:
        if (this.authority !== null) return MALFORMED
        this.authority = value
        return null
      case kinds.SCHEME:
        if (this.scheme !== null) return MALFORMED
        this.scheme = value
        return null
      case kinds.PROTOCOL:
        if (this.protocol !== null || !kinds.isToken(value)) return MALFORMED
        this.protocol = value
        return null
      case kinds.HOST:
        if (this.host !== null) return SECOND_HOST
        this.host = value
        return null
      case kinds.COOKIE:
        // Split cookies become one field again (RFC 9113 section 8.2.3).
        this.#cookie = this.#cookie === null ? value : this.#cookie + '; ' + value
        return null
      case kinds.TE:
        this.teTrailers = true
        return null
      case kinds.EXPECT:
        if (value.toLowerCase() !== '100-continue') return UNKNOWN_EXPECTATION
        this.expectContinue = true
        return null
      case kinds.DROPPED:
        return null
      case kinds.CONTENT_LENGTH:
        if (this.contentLength !== -1) return SECOND_CONTENT_LENGTH
        if (!/^[0-9]{1,15}$/.test(value)) return BAD_CONTENT_LENGTH
        this.contentLength = Number(value)
        this.addLine(name, String(this.contentLength))
        return null
      case kinds.HOPS:
        this.hops = this.hops === '' ? value : `${this.hops}, ${value}`
        return null
      case kinds.STATUS:
      case kinds.FORBIDDEN:
        return MALFORMED
      case kinds.BAD_NAME:
        return BAD_HEADER_NAME
      case kinds.BAD_VALUE:
        return BAD_HEADER_VALUE
      case kinds.CLAIM:
        this.claimsForwarding = true
    }
    this.addLine(name, value)
    return null
  }
}

/** Accepts origin form or `*`; an absolute URI is invalid here. */
function isPath(path: string): boolean {
  if (path.charCodeAt(0) !== SLASH) return path === '*'
  for (let i = 1; i < path.length; i++) if (TARGET[path.charCodeAt(i)] !== 1) return false
  return true
}

const SLASH = 47
const MAX_TARGET = 32_768

const problem = (status: HeadProblem['status'], code: string): HeadProblem => Object.freeze({ status, code })

export const HEAD_TOO_LARGE = problem(431, 'head_too_large')
const BAD_HEADER_NAME = problem(400, 'bad_header_name')
const BAD_HEADER_VALUE = problem(400, 'bad_header_value')
const CONNECT_WITH_BODY = problem(400, 'connect_with_body')
const BAD_METHOD = problem(400, 'bad_method')
const BAD_TARGET = problem(400, 'bad_target')
const TARGET_TOO_LONG = problem(414, 'target_too_long')
const BAD_SCHEME = problem(400, 'bad_scheme')
const SECOND_HOST = problem(400, 'second_host')
const MISMATCH = problem(400, 'authority_mismatch')
const UNKNOWN_EXPECTATION = problem(417, 'unknown_expectation')
const SECOND_CONTENT_LENGTH = problem(400, 'second_content_length')
const BAD_CONTENT_LENGTH = problem(400, 'bad_content_length')
