import { HeaderBlock } from '../fields/header-block.ts'
import { claimsForwarding, mayBeTrailer } from '../fields/field-rules.ts'
import { HOPS_HEADER } from '../fields/hops.ts'
import { CR, COLON, LF, SP, TAB, TARGET_KIND, TOKEN, VALUE } from './chars.ts'

/** One parsed head of a request or a response. Hop-by-hop lines and Host are read here and not kept in `headers`. */
export class MessageHead {
  /** Requests only. */
  method = ''
  target = ''
  /** Whether the target has neither a dot nor an escape, so that a backend cannot resolve it differently. */
  isPlainTarget = false
  host: string | null = null
  expectContinue = false
  /** Whether the client accepts trailers (`TE: trailers`). */
  teTrailers = false
  /** Whether a header that names the client's address or scheme was sent, in any spelling. */
  claimsForwarding = false
  /** Values of `x-portico-hops`; empty for most requests. */
  hops = ''
  /** Responses only. */
  status = 0
  reason = ''
  /** Requests and responses. */
  minor = 1
  headers: HeaderBlock
  /** -1 when there is no Content-Length. */
  contentLength = -1
  /** Whether `chunked` is the last coding. */
  chunked = false
  /** Whether Transfer-Encoding had a coding besides `chunked`, or `chunked` was not the last coding. */
  foreignCoding = false
  /** Whether the head has `Connection: close`. */
  close = false
  /** Whether the head has `Connection: keep-alive`. */
  keepAlive = false
  /** `Keep-Alive: timeout=5`: seconds that the peer waits for the next message; -1 when not announced. */
  keepAliveSeconds = -1
  /** The Upgrade value in lower case, when Connection nominates it. */
  upgrade = ''
  /** The Upgrade value, nominated or not. */
  offeredUpgrade = ''
  /** Names in Connection besides `close` and `keep-alive`. */
  nominated: string[] | null = null

  constructor(headers: HeaderBlock) {
    this.headers = headers
  }
}

/** Why a head is rejected; `status` is sent to the client. */
export interface HeadProblem {
  status: 400 | 414 | 417 | 431 | 505
  code: string
}

/** The end of the last line, and the empty line. */
export const HEAD_END = '\r\n\r\n'

export interface HeadLimits {
  maxHeaders: number
  maxTarget: number
}

/** Parses from the request line to the empty line, which must be the end of the text. */
export function parseRequestHead(text: string, limits: HeadLimits): MessageHead | HeadProblem {
  const length = text.length
  let at = 0
  while (at < length && TOKEN[text.charCodeAt(at)] === 1) at++
  if (at === 0 || at > MAX_METHOD || text.charCodeAt(at) !== SP) return BAD_REQUEST_LINE
  const method = text.slice(0, at)
  const targetStart = ++at
  let kinds = 0
  for (; at < length; at++) {
    const kind = TARGET_KIND[text.charCodeAt(at)] ?? 0
    if (kind === 0) break
    kinds |= kind
  }
  if (at === targetStart || text.charCodeAt(at) !== SP) return BAD_TARGET
  if (at - targetStart > limits.maxTarget) return TARGET_TOO_LONG
  const target = text.slice(targetStart, at)
  const minor = httpMinor(text, at + 1)
  if (minor < 0) return isHttpVersion(text, at + 1) ? UNSUPPORTED_VERSION : BAD_REQUEST_LINE
  at += 9
  if (text.charCodeAt(at) !== CR || text.charCodeAt(at + 1) !== LF) return BAD_REQUEST_LINE
  const head = parseFields(text, at + 2, limits.maxHeaders, length)
  if (!(head instanceof MessageHead)) return head
  head.method = method
  head.target = target
  head.isPlainTarget = kinds === 1
  head.minor = minor
  return head
}

/** Parses from the status line to the empty line, which must end at `length`. */
export function parseResponseHead(text: string, maxHeaders: number, length = text.length): MessageHead | HeadProblem {
  const minor = httpMinor(text, 0)
  if (minor < 0 || text.charCodeAt(8) !== SP) return BAD_STATUS_LINE
  const status = threeDigits(text, 9)
  if (status < 100) return BAD_STATUS_LINE
  let at = 12
  if (text.charCodeAt(at) === SP) at++
  else if (text.charCodeAt(at) !== CR) return BAD_STATUS_LINE
  const reasonStart = at
  while (at < length && VALUE[text.charCodeAt(at)] === 1) at++
  if (text.charCodeAt(at) !== CR || text.charCodeAt(at + 1) !== LF) return BAD_STATUS_LINE
  const reason = text.slice(reasonStart, at)
  const head = parseFields(text, at + 2, maxHeaders, length)
  if (!(head instanceof MessageHead)) return head
  head.status = status
  head.reason = reason
  head.minor = minor
  return head
}

/**
 * Returns whether an incomplete head, from `start` on, can still become the head of a response: a peer that does not
 * speak HTTP may never send more. Bytes before `from` were already checked.
 */
export function mayBecomeResponse(bytes: Buffer, start: number, from: number): boolean {
  for (let at = from; at < bytes.length; at++) {
    const byte = bytes[at]!
    const place = at - start
    const isGood =
      place < STATUS_LINE.length
        ? isOfStatusLine(byte, STATUS_LINE.charCodeAt(place))
        : byte === LF
          ? bytes[at - 1] === CR
          : bytes[at - 1] !== CR && (byte === CR || VALUE[byte] === 1)
    if (!isGood) return false
  }
  return true
}

/** A zero stands for any digit. */
const STATUS_LINE = 'HTTP/1.0 000'

function isOfStatusLine(byte: number, wanted: number): boolean {
  return wanted === ZERO ? byte >= ZERO && byte <= ZERO + 9 : byte === wanted
}

/** Parses only header lines (a trailer section) up to the empty line that ends the text. */
export function parseTrailers(text: string, maxHeaders: number): HeaderBlock | HeadProblem {
  const head = parseFields(text, 0, maxHeaders, text.length)
  if (!(head instanceof MessageHead)) return head
  if (head.chunked || head.foreignCoding || head.contentLength !== -1) return LATE_FRAMING
  // Routing and connection fields must not arrive late (RFC 9110 section 6.5.1).
  head.headers.removeWhere((name) => !mayBeTrailer(name))
  return head.headers
}

function parseFields(text: string, start: number, maxHeaders: number, length: number): MessageHead | HeadProblem {
  const lines: number[] = []
  const head = new MessageHead(new HeaderBlock(text, lines))
  let count = 0
  let at = start
  for (;;) {
    const first = text.charCodeAt(at)
    if (first === CR) {
      if (text.charCodeAt(at + 1) !== LF || at + 2 !== length) return BARE_CR
      break
    }
    if (++count > maxHeaders) return TOO_MANY_HEADERS
    const lineStart = at
    while (at < length && TOKEN[text.charCodeAt(at)] === 1) at++
    if (at === lineStart || text.charCodeAt(at) !== COLON) return badName(text, lineStart, at)
    const nameEnd = at++
    let code = text.charCodeAt(at)
    while (code === SP || code === TAB) code = text.charCodeAt(++at)
    const valueStart = at
    while (at < length && VALUE[text.charCodeAt(at)] === 1) at++
    if (text.charCodeAt(at) !== CR || text.charCodeAt(at + 1) !== LF) return badValue(text, at)
    let valueEnd = at
    while (valueEnd > valueStart && isBlank(text.charCodeAt(valueEnd - 1))) valueEnd--
    at += 2

    const special = specialName(text, lineStart, nameEnd - lineStart)
    if (special !== ORDINARY) {
      const blanks =
        valueEnd < at - 2 ? AFTER : text.charCodeAt(nameEnd + 1) === SP && valueStart === nameEnd + 2 ? ONE : OTHER
      const value = special === HOST ? hostAt(text, valueStart, valueEnd) : text.slice(valueStart, valueEnd)
      const verdict = takeSpecial(head, special, value, blanks)
      if (verdict === DROP) continue
      if (verdict !== KEEP) return verdict
    }
    lines.push(lineStart, nameEnd, valueStart, valueEnd, at)
  }
  if (head.nominated !== null) dropNominated(head, head.nominated)
  return head
}

/** Most requests have the same host as the request before: the same string object makes later comparisons fast. */
function hostAt(text: string, start: number, end: number): string {
  const last = lastHost
  if (end - start === last.length && startsAt(text, start, last)) return last
  return (lastHost = text.slice(start, end))
}

let lastHost = ''

function startsAt(text: string, start: number, part: string): boolean {
  for (let i = 0; i < part.length; i++) if (text.charCodeAt(start + i) !== part.charCodeAt(i)) return false
  return true
}

/** Reads a field that the gateway interprets; `blanks` describes the white space around its value. */
function takeSpecial(
  head: MessageHead,
  special: number,
  value: string,
  blanks: typeof ONE | typeof OTHER | typeof AFTER,
): HeadProblem | typeof KEEP | typeof DROP {
  switch (special) {
    case HOST:
      if (head.host !== null) return SECOND_HOST
      head.host = value
      return DROP
    case CONTENT_LENGTH:
      if (head.contentLength !== -1) return SECOND_CONTENT_LENGTH
      head.contentLength = digits(value)
      if (head.contentLength === -1) return BAD_CONTENT_LENGTH
      if (blanks === ONE && (value.length === 1 || value.charCodeAt(0) !== ZERO)) return KEEP
      // Other parsers may read a tab, trailing white space or a leading zero differently, so the number is written
      // again.
      head.headers.addChecked('content-length', String(head.contentLength))
      return DROP
    case TRANSFER_ENCODING:
      // Exactly one line with one coding and nothing after it: parsers disagree on lists, second lines and trailing
      // tabs.
      if (head.chunked || blanks === AFTER || value.toLowerCase() !== 'chunked') head.foreignCoding = true
      else head.chunked = true
      return DROP
    case CONNECTION:
      takeConnection(head, value)
      return DROP
    case UPGRADE:
      head.offeredUpgrade += (head.offeredUpgrade === '' ? '' : ', ') + value.toLowerCase()
      return DROP
    case TE:
      if (/(^|,)[ \t]*trailers[ \t]*(,|;|$)/i.test(value)) head.teTrailers = true
      return DROP
    case EXPECT:
      if (value.toLowerCase() !== '100-continue') return UNKNOWN_EXPECTATION
      head.expectContinue = true
      return DROP
    case FORWARDING:
      head.claimsForwarding = true
      return KEEP
    case HOPS:
      head.hops = head.hops === '' ? value : `${head.hops}, ${value}`
      return DROP
    case KEEP_ALIVE: {
      const timeout = /(?:^|[,;\s])timeout\s*=\s*(\d{1,6})(?:$|[,;\s])/i.exec(value)
      if (timeout !== null) head.keepAliveSeconds = Number(timeout[1])
      return DROP
    }
    default:
      return DROP
  }
}

function takeConnection(head: MessageHead, value: string): void {
  if (value === 'keep-alive') {
    head.keepAlive = true
    return
  }
  for (const part of value.toLowerCase().split(',')) {
    const token = part.trim()
    if (token === 'close') head.close = true
    else if (token === 'keep-alive') head.keepAlive = true
    else if (token !== '') (head.nominated ??= []).push(token)
  }
}

function dropNominated(head: MessageHead, nominated: string[]): void {
  for (const token of nominated) {
    if (token === 'upgrade') head.upgrade = head.offeredUpgrade
    else if (!NEVER_NOMINATED.has(token)) head.headers.remove(token)
  }
}

/** White space around a value: one space before it, any after it, or another combination. */
const ONE = 1
const AFTER = 2
const OTHER = 3

const KEEP = true
const DROP = false

const ORDINARY = 0
const HOP = 1
const HOST = 2
const CONTENT_LENGTH = 3
const TRANSFER_ENCODING = 4
const CONNECTION = 5
const UPGRADE = 6
const TE = 7
const EXPECT = 8
const FORWARDING = 9
const KEEP_ALIVE = 10
const HOPS = 11

const SPECIAL: readonly (readonly [string, number])[] = [
  ['host', HOST],
  ['content-length', CONTENT_LENGTH],
  ['transfer-encoding', TRANSFER_ENCODING],
  ['connection', CONNECTION],
  ['upgrade', UPGRADE],
  ['te', TE],
  ['expect', EXPECT],
  ['keep-alive', KEEP_ALIVE],
  ['proxy-connection', HOP],
  ['proxy-authenticate', HOP],
  ['trailer', HOP],
  ['http2-settings', HOP],
  ['forwarded', FORWARDING],
]

/** Index in SPECIAL, plus one, by length and first letter: no two names share both, so one comparison decides. */
const specialByShape = new Uint8Array(32 * 32)
SPECIAL.forEach(([name], index) => {
  specialByShape[name.length * 32 + (name.charCodeAt(0) & 31)] = index + 1
})

function specialName(text: string, start: number, length: number): number {
  const first = text.charCodeAt(start) | 32
  // x-forwarded-*, x-real-ip and their spellings with `_` or `.`, which backends treat as the same name.
  if (first === 120 && length >= 9) {
    if (length === HOPS_HEADER.length && isNamed(text, start, HOPS_HEADER)) return HOPS
    return claimsForwarding.test(text.slice(start, start + length)) ? FORWARDING : ORDINARY
  }
  if (length > 31) return ORDINARY
  // The checks above keep both indexes within their tables.
  const candidate = specialByShape[length * 32 + (first & 31)]!
  if (candidate === 0) return ORDINARY
  const [name, kind] = SPECIAL[candidate - 1]!
  return isNamed(text, start, name) ? kind : ORDINARY
}

function isNamed(text: string, start: number, name: string): boolean {
  for (let i = 0; i < name.length; i++) if (lowerCase(text.charCodeAt(start + i)) !== name.charCodeAt(i)) return false
  return true
}

function lowerCase(code: number): number {
  return code >= 65 && code <= 90 ? code | 32 : code
}

/** Fields for framing, routing and credentials are kept, even when Connection nominates them. */
const NEVER_NOMINATED = new Set(['content-length', 'host', 'transfer-encoding', 'authorization', 'cookie'])

export const MAX_METHOD = 32

function httpMinor(text: string, at: number): number {
  if (!text.startsWith('HTTP/1.', at)) return -1
  const digit = text.charCodeAt(at + 7)
  return digit === 49 ? 1 : digit === 48 ? 0 : -1
}

/**
 * Returns the three-digit number at a position, or -1 without three digits; a leading zero makes it too small for a
 * status.
 */
function threeDigits(text: string, at: number): number {
  let number = 0
  for (let i = at; i < at + 3; i++) {
    const digit = text.charCodeAt(i) - 48
    if (!(digit >= 0 && digit <= 9)) return -1
    number = number * 10 + digit
  }
  return number
}

/** Returns a length of 1 to 15 digits, which a double holds exactly; -1 for anything else. */
function digits(text: string): number {
  if (text.length === 0 || text.length > 15) return -1
  let number = 0
  for (let i = 0; i < text.length; i++) {
    const digit = text.charCodeAt(i) - 48
    if (digit < 0 || digit > 9) return -1
    number = number * 10 + digit
  }
  return number
}

const ZERO = 48

function isHttpVersion(text: string, at: number): boolean {
  return /^HTTP\/[0-9]\.[0-9]\r\n/.test(text.slice(at, at + 10))
}

function isBlank(code: number): boolean {
  return code === SP || code === TAB
}

function badName(text: string, start: number, at: number): HeadProblem {
  const code = text.charCodeAt(at)
  if (at === start && isBlank(code)) return FOLDED_LINE
  if (isBlank(code)) return SPACE_BEFORE_COLON
  if (code === LF) return BARE_LF
  return BAD_HEADER_NAME
}

function badValue(text: string, at: number): HeadProblem {
  const code = text.charCodeAt(at)
  if (code === CR) return BARE_CR
  if (code === LF) return BARE_LF
  return BAD_HEADER_VALUE
}

const problem = (status: HeadProblem['status'], code: string): HeadProblem => Object.freeze({ status, code })

const BAD_REQUEST_LINE = problem(400, 'bad_request_line')
const BAD_TARGET = problem(400, 'bad_target')
const TARGET_TOO_LONG = problem(414, 'target_too_long')
const UNSUPPORTED_VERSION = problem(505, 'unsupported_version')
const BAD_STATUS_LINE = problem(400, 'bad_status_line')
const TOO_MANY_HEADERS = problem(431, 'too_many_headers')
const BARE_CR = problem(400, 'bare_cr')
const BARE_LF = problem(400, 'bare_lf')
const FOLDED_LINE = problem(400, 'folded_line')
const SPACE_BEFORE_COLON = problem(400, 'space_before_colon')
const BAD_HEADER_NAME = problem(400, 'bad_header_name')
const BAD_HEADER_VALUE = problem(400, 'bad_header_value')
const SECOND_HOST = problem(400, 'second_host')
const SECOND_CONTENT_LENGTH = problem(400, 'second_content_length')
const BAD_CONTENT_LENGTH = problem(400, 'bad_content_length')
const LATE_FRAMING = problem(400, 'late_framing')
const UNKNOWN_EXPECTATION = problem(417, 'unknown_expectation')
