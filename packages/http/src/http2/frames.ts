/**
 * Constants and encoders of frames (RFC 9113 sections 4.1 and 6). Frames are written as latin1 text, like HTTP/1 heads.
 */

export const DATA = 0
export const HEADERS = 1
export const PRIORITY = 2
export const RST_STREAM = 3
export const SETTINGS = 4
export const PUSH_PROMISE = 5
export const PING = 6
export const GOAWAY = 7
export const WINDOW_UPDATE = 8
export const CONTINUATION = 9

export const END_STREAM = 1
export const ACK = 1
export const END_HEADERS = 4
export const PADDED = 8
export const PRIORITIZED = 32

export const NO_ERROR = 0
export const PROTOCOL_ERROR = 1
export const INTERNAL_ERROR = 2
export const FLOW_CONTROL_ERROR = 3
export const STREAM_CLOSED = 5
export const FRAME_SIZE_ERROR = 6
export const REFUSED_STREAM = 7
export const CANCEL = 8
export const COMPRESSION_ERROR = 9
export const CONNECT_ERROR = 10
export const ENHANCE_YOUR_CALM = 11

/** Names of the error codes (RFC 9113 section 7). */
const ERROR_NAMES = [
  ...['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'SETTINGS_TIMEOUT', 'STREAM_CLOSED'],
  ...['FRAME_SIZE_ERROR', 'REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR', 'ENHANCE_YOUR_CALM'],
  ...['INADEQUATE_SECURITY', 'HTTP_1_1_REQUIRED'],
]

export function errorName(code: number): string {
  return ERROR_NAMES[code] ?? `code ${code}`
}

export const FRAME_HEAD = 9
/** The largest payload that every peer accepts. */
export const SMALLEST_MAX_FRAME = 16_384
/** The initial size of every window, before any SETTINGS. */
export const FIRST_WINDOW = 65_535
export const LARGEST_WINDOW = 2 ** 31 - 1

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export function frameHead(length: number, type: number, flags: number, stream: number): string {
  return String.fromCharCode(length >> 16, (length >> 8) & 255, length & 255, type, flags) + uint32(stream)
}

export function uint32(value: number): string {
  return String.fromCharCode(value >>> 24, (value >> 16) & 255, (value >> 8) & 255, value & 255)
}

export function resetFrame(stream: number, code: number): string {
  return frameHead(4, RST_STREAM, 0, stream) + uint32(code)
}

export function windowUpdateFrame(stream: number, increment: number): string {
  return frameHead(4, WINDOW_UPDATE, 0, stream) + uint32(increment)
}

/** `payload` is eight bytes, as text. */
export function pingFrame(payload: string, flags: number): string {
  return frameHead(8, PING, flags, 0) + payload
}

export function goawayFrame(lastStream: number, code: number): string {
  return frameHead(8, GOAWAY, 0, 0) + uint32(lastStream) + uint32(code)
}

/** Encodes a field block as HEADERS, and CONTINUATION when it exceeds the frame size. */
export function headersFrames(stream: number, block: string, flags: number, maxFrame: number): string {
  if (block.length <= maxFrame) return frameHead(block.length, HEADERS, flags | END_HEADERS, stream) + block
  let text = frameHead(maxFrame, HEADERS, flags, stream) + block.slice(0, maxFrame)
  for (let at = maxFrame; at < block.length; at += maxFrame) {
    const piece = block.slice(at, at + maxFrame)
    const last = at + piece.length === block.length
    text += frameHead(piece.length, CONTINUATION, last ? END_HEADERS : 0, stream) + piece
  }
  return text
}
