const NEEDS_DECODING = /[%+\x80-\xff]/
const PLUS = 0x2b
const PERCENT = 0x25
const SPACE = 0x20

/**
 * `text` has one character code per byte. Malformed escapes stay as they are; bytes that are not UTF-8 become U+FFFD.
 */
export function formDecode(text: string): string {
  if (!NEEDS_DECODING.test(text)) return text
  const bytes = new Uint8Array(text.length)
  let length = 0
  for (let at = 0; at < text.length; at++) {
    let byte = text.charCodeAt(at)
    if (byte === PLUS) byte = SPACE
    else if (byte === PERCENT) {
      const high = hexDigit(text.charCodeAt(at + 1))
      const low = hexDigit(text.charCodeAt(at + 2))
      if (high !== -1 && low !== -1) {
        byte = high * 16 + low
        at += 2
      }
    }
    bytes[length++] = byte
  }
  return utf8.decode(bytes.subarray(0, length))
}

const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })

/** Returns -1 for a code that is not a hex digit, and for NaN beyond the end of a text. */
function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1
}
