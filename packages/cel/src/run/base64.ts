const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const INVALID = 255
const VALUES = new Uint8Array(128).fill(INVALID)
for (let value = 0; value < ALPHABET.length; value++) VALUES[ALPHABET.charCodeAt(value)] = value

const CODES = Uint8Array.from(ALPHABET, (char) => char.charCodeAt(0))
const PADDING = 61
const ascii = new TextDecoder('ascii')

/** Encodes by hand, because browsers and the oldest supported runtime lack `Uint8Array.toBase64`. */
export function encodeBase64(bytes: Uint8Array): string {
  const codes = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  for (let at = 0, to = 0; at < bytes.length; at += 3, to += 4) {
    const group = ((bytes[at] ?? 0) << 16) | ((bytes[at + 1] ?? 0) << 8) | (bytes[at + 2] ?? 0)
    codes[to] = codeOf(group >> 18)
    codes[to + 1] = codeOf((group >> 12) & 63)
    codes[to + 2] = at + 1 < bytes.length ? codeOf((group >> 6) & 63) : PADDING
    codes[to + 3] = at + 2 < bytes.length ? codeOf(group & 63) : PADDING
  }
  return ascii.decode(codes)
}

function codeOf(value: number): number {
  return CODES[value] ?? PADDING
}

/** Decodes base64, with or without padding. Undefined when the text is not base64. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  if (padding > 0 && text.length % 4 !== 0) return undefined
  const length = text.length - padding
  if (length % 4 === 1) return undefined
  const bytes = new Uint8Array(Math.floor((length * 3) / 4))
  let group = 0
  let filled = 0
  for (let at = 0; at < length; at++) {
    const value = VALUES[text.charCodeAt(at)] ?? INVALID
    if (value === INVALID) return undefined
    group = ((group << 6) | value) & 0xffffff
    if (at % 4 > 0) bytes[filled++] = (group >> (6 - (at % 4) * 2)) & 0xff
  }
  return bytes
}

/** Decodes base64url, which has `-` and `_` in place of `+` and `/`. */
export function decodeBase64Url(text: string): Uint8Array | undefined {
  return /[+/]/.test(text) ? undefined : decodeBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
}
