import { systemRandom } from '../../state/system-random.ts'

/**
 * The parameters of record ids. An id has eight digits for the ring and seven for the serial number in it. Clients see ids,
 * so serial numbers are shuffled, which hides the number of requests.
 */
export interface RecordNames {
  readonly prefix: string
  /** The key of the shuffle. */
  readonly key: number
}

export const PREFIX_LENGTH = 8

export function createNames(): RecordNames {
  const random = systemRandom(12)
  return {
    prefix: digits(random.readUInt32LE(0), 4) + digits(random.readUInt32LE(4), 4),
    key: random.readUInt32LE(8),
  }
}

export function idOf({ prefix, key }: RecordNames, serial: number): string {
  return prefix + digits(shuffled(serial, key), 7)
}

/** Splits an id into its prefix and the rest; null when it is not the id of a record. */
export function partsOf(id: string): { prefix: string; rest: string } | null {
  return PATTERN.test(id) ? { prefix: id.slice(0, PREFIX_LENGTH), rest: id.slice(PREFIX_LENGTH) } : null
}

/** Shuffles a serial number; the mapping is one-to-one. */
function shuffled(serial: number, key: number): number {
  let word = Math.imul(serial ^ key, 0x9e37_79b1)
  word = Math.imul(word ^ (word >>> 15), 0x85eb_ca6b)
  return (word ^ (word >>> 13)) >>> 0
}

function digits(value: number, count: number): string {
  let text = ''
  let rest = value
  for (let i = 0; i < count; i++) {
    text = ALPHABET[rest & 31]! + text
    rest >>>= 5
  }
  return text
}

/** Digits and letters without those that look like digits. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const PATTERN = /^[0-9a-hjkmnp-tv-z]{15}$/
