/** DER encoding, as far as certificates need it (ITU-T X.690). */

export function der(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content)
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(body.length)]), body])
}

export function sequence(...content: readonly Uint8Array[]): Buffer {
  return der(0x30, ...content)
}

export function set(...content: readonly Uint8Array[]): Buffer {
  return der(0x31, ...content)
}

/** Encodes an unsigned integer of any length. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const digits = bytes.subarray(start)
  // A leading zero keeps the number positive.
  return der(0x02, ...((digits[0] ?? 0) >= 0x80 || digits.length === 0 ? [Buffer.of(0)] : []), digits)
}

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest].flatMap(base128)))
}

export function boolean(value: boolean): Buffer {
  return der(0x01, Buffer.of(value ? 0xff : 0))
}

export function octets(content: Uint8Array): Buffer {
  return der(0x04, content)
}

export function bits(content: Uint8Array, unused = 0): Buffer {
  return der(0x03, Buffer.of(unused), content)
}

export function utf8(text: string): Buffer {
  return der(0x0c, Buffer.from(text, 'utf8'))
}

/** Encodes a time in whole seconds, with two-digit years until 2049 (RFC 5280 section 4.1.2.5). */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().slice(0, 19).replaceAll(/[-:T]/g, '')}Z`
  const year = at.getUTCFullYear()
  return year >= 1950 && year < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits))
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length]
  const bytes: number[] = []
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return [0x80 + bytes.length, ...bytes]
}

function base128(value: number): number[] {
  const groups = [value % 128]
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) groups.unshift((rest % 128) + 128)
  return groups
}
