/** Returns the size line of one chunk. */
export function chunkHead(size: number): string {
  return size.toString(16) + '\r\n'
}

/** Returns one chunk in wire format. */
export function framedChunk(bytes: Buffer): Buffer {
  const size = bytes.length
  let start = 3
  for (let rest = size; rest > 15; rest >>>= 4) start++
  const framed = Buffer.allocUnsafe(start + size + 2)
  for (let rest = size, at = start - 3; at >= 0; rest >>>= 4) framed[at--] = HEX_DIGITS.charCodeAt(rest & 15)
  framed[start - 2] = framed[start + size] = CR
  framed[start - 1] = framed[start + size + 1] = LF
  framed.set(bytes, start)
  return framed
}

const HEX_DIGITS = '0123456789abcdef'
const CR = 13
const LF = 10
