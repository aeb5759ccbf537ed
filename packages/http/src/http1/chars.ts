/** Byte classes of RFC 9110 and 9112; a head is read as latin1 text, so each character code is a byte. */

export { latin1 } from '../text/characters.ts'

/** tchar: the bytes of methods and header names. */
export const TOKEN = classOf((c) => /[!#$%&'*+\-.^_`|~0-9A-Za-z]/.test(String.fromCharCode(c)))

/** Bytes of a header value: visible, space, tab and obs-text; no other control byte. */
export const VALUE = classOf((c) => c === 9 || (c >= 32 && c !== 127))

/** Bytes of a request target: visible ASCII without `#` and backslash, which a target must not contain. */
export const TARGET = classOf((c) => c > 32 && c < 127 && c !== 35 && c !== 92)

/** Like `TARGET`, with 2 for characters that a backend may resolve: dots and escapes. */
export const TARGET_KIND = TARGET.map((is, c) => (c === 46 || c === 37 ? 2 : is))

/** The value of a hexadecimal digit, or 255. */
export const HEX = new Uint8Array(256).map((_, c) => {
  if (c >= 48 && c <= 57) return c - 48
  if (c >= 65 && c <= 70) return c - 55
  if (c >= 97 && c <= 102) return c - 87
  return 255
})

export const CR = 13
export const LF = 10
export const SP = 32
export const TAB = 9
export const COLON = 58

function classOf(belongs: (code: number) => boolean): Uint8Array {
  return new Uint8Array(256).map((_, code) => (belongs(code) ? 1 : 0))
}
