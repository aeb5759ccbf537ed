/** Decodes UTF-8; every byte that belongs to no valid character becomes `!`. */
export function withoutOddBytes(bytes: Buffer): string {
  const parts: string[] = []
  let start = 0
  for (let at = 0; at < bytes.length;) {
    const length = characterLength(bytes, at)
    if (length === 0) {
      parts.push(bytes.toString('utf8', start, at), '!')
      start = at + 1
    }
    at += length === 0 ? 1 : length
  }
  return parts.join('') + bytes.toString('utf8', start)
}

/** Returns the length of the character at this index in bytes; 0 without a valid character (RFC 3629, section 4). */
function characterLength(bytes: Buffer, at: number): number {
  const first = bytes[at] ?? 0
  if (first < 0x80) return 1
  const length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0
  for (let i = 1; i < length; i++) {
    const byte = bytes[at + i] ?? 0
    const [low, high] = i === 1 ? secondByte(first) : [0x80, 0xbf]
    if (byte < low || byte > high) return 0
  }
  return length
}

/** Returns the range of a valid second byte: no overlong forms, no surrogates, no code points above U+10FFFF. */
function secondByte(first: number): readonly [low: number, high: number] {
  switch (first) {
    case 0xe0:
      return [0xa0, 0xbf]
    case 0xed:
      return [0x80, 0x9f]
    case 0xf0:
      return [0x90, 0xbf]
    case 0xf4:
      return [0x80, 0x8f]
    default:
      return [0x80, 0xbf]
  }
}
