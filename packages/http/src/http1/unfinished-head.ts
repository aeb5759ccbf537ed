import { COLON, CR, LF, SP, TARGET, TOKEN, VALUE } from './chars.ts'
import { type HeadProblem, MAX_METHOD } from './head.ts'

/**
 * Returns a problem in an incomplete head that no further byte can fix, so that a client of another protocol (TLS, SSH,
 * noise) gets an error at once; null while the bytes may still become a request. Bytes before `from` were already
 * checked.
 */
export function unfinishedProblem(bytes: Buffer, start: number, from: number): HeadProblem | null {
  if (bytes[start] === TLS_HANDSHAKE && (bytes[start + 1] ?? TLS_MAJOR) === TLS_MAJOR) return TLS_HELLO
  for (let at = Math.max(start, from); at < bytes.length; at++) {
    const byte = bytes[at] ?? END
    if (VALUE[byte] === 1) continue
    if (byte === LF && (at === start || bytes[at - 1] !== CR)) return BARE_LF
    if (byte !== CR && byte !== LF) return lineProblem(bytes, start) ?? controlByte(bytes, start, at)
  }
  return lineProblem(bytes, start)
}

/** Checks the received part of the request line. */
function lineProblem(bytes: Buffer, start: number): HeadProblem | null {
  let at = start
  while (TOKEN[bytes[at] ?? END] === 1) at++
  if (at - start > MAX_METHOD) return BAD_REQUEST_LINE
  if (at === bytes.length) return null
  if (at === start || bytes[at] !== SP) return BAD_REQUEST_LINE
  const target = ++at
  while (TARGET[bytes[at] ?? END] === 1) at++
  if (at === bytes.length) return null
  if (at === target || bytes[at] !== SP) return BAD_TARGET
  at++
  for (let i = 0; i < VERSION.length && at + i < bytes.length; i++) {
    const byte = bytes[at + i] ?? END
    if (VERSION[i] === DIGIT ? byte < DIGIT || byte > DIGIT + 9 : byte !== VERSION[i]) return BAD_REQUEST_LINE
  }
  return null
}

function controlByte(bytes: Buffer, start: number, at: number): HeadProblem {
  const line = bytes.subarray(start, at)
  return line.lastIndexOf(COLON) > line.lastIndexOf(LF) ? BAD_HEADER_VALUE : BAD_HEADER_NAME
}

const TLS_HANDSHAKE = 0x16
const TLS_MAJOR = 3
/** Stands for the end of the bytes: no byte has this code, and no class contains it. */
const END = 256
/** A zero stands for any digit. */
const VERSION = Buffer.from('HTTP/0.0\r\n')
const DIGIT = 48

const problem = (code: string): HeadProblem => Object.freeze({ status: 400, code })

const TLS_HELLO = problem('tls_on_plain_port')
const BARE_LF = problem('bare_lf')
const BAD_REQUEST_LINE = problem('bad_request_line')
const BAD_TARGET = problem('bad_target')
const BAD_HEADER_NAME = problem('bad_header_name')
const BAD_HEADER_VALUE = problem('bad_header_value')
