/** Form-decoded value of the first pair with this name (Gateway API: the first of repeated keys counts), or null. */
export function firstQueryValue(query: string, name: string): string | null {
  let start = 0
  while (start < query.length) {
    let end = query.indexOf('&', start)
    if (end === -1) end = query.length
    const equals = query.indexOf('=', start)
    const nameEnd = equals === -1 || equals > end ? end : equals
    if (end > start && formDecode(query.slice(start, nameEnd)) === name) {
      return nameEnd === end ? '' : formDecode(query.slice(nameEnd + 1, end))
    }
    start = end + 1
  }
  return null
}

const NEEDS_DECODING = /[%+\x80-\xff]/
const PLUS = 0x2b
const PERCENT = 0x25
const SPACE = 0x20

/** Malformed escapes stay as they are; bytes that are not UTF-8 become U+FFFD. */
function formDecode(text: string): string {
  if (!NEEDS_DECODING.test(text)) return text
  const bytes = Buffer.from(text, 'latin1')
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    let byte = bytes[at]!
    if (byte === PLUS) byte = SPACE
    else if (byte === PERCENT) {
      const high = hexDigit(bytes[at + 1])
      const low = hexDigit(bytes[at + 2])
      if (high !== -1 && low !== -1) {
        byte = high * 16 + low
        at += 2
      }
    }
    bytes[length++] = byte
  }
  return bytes.toString('utf8', 0, length)
}

function hexDigit(code: number | undefined): number {
  if (code === undefined) return -1
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1
}
