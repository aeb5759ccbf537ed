import { STATIC_TABLE } from './tables.ts'

/**
 * Encodes fields as latin1 text. Nothing is added to the peer's dynamic table: a block then depends on no other block,
 * a name has the same encoding on every connection, and there is no state to keep.
 */
export function statusField(status: number): string {
  return anyField(':status', String(status))
}

/** Encodes a field by its index when the static table has the whole field, otherwise as a literal. */
export function anyField(name: string, value: string): string {
  const index = STATIC_TABLE.findIndex((field) => field.name === name && field.value === value)
  return index === -1 ? literalField(name, value) : String.fromCharCode(0x80 + index + 1)
}

/** The name must be lower case; the value has one character code per byte. */
export function literalField(name: string, value: string): string {
  return nameOf(name) + valueOf(value)
}

/**
 * A table size update to zero, so that the peer can free its table for our blocks; it precedes the first field of a
 * block.
 */
export const NO_TABLE = '\x20'

/** Encodes a literal without indexing, up to its value; the name is an index when the static table has it. */
export function nameOf(name: string): string {
  const index = STATIC_TABLE.findIndex((field) => field.name === name)
  return index === -1 ? '\0' + valueOf(name) : integer(index + 1, 4)
}

/** Like `nameOf`, for a secret: an intermediary must not add it to a table either (RFC 7541 section 7.1.3). */
export function secretNameOf(name: string): string {
  const begin = nameOf(name)
  return String.fromCharCode(begin.charCodeAt(0) | NEVER_INDEXED) + begin.slice(1)
}

/** Encodes the value of a field. */
export function valueOf(value: string): string {
  return lengthOf(value) + value
}

function lengthOf(text: string): string {
  return text.length < 127 ? String.fromCharCode(text.length) : integer(text.length, 7)
}

function integer(value: number, prefix: number): string {
  const mask = (1 << prefix) - 1
  if (value < mask) return String.fromCharCode(value)
  let text = String.fromCharCode(mask)
  let rest = value - mask
  for (; rest >= 128; rest >>>= 7) text += String.fromCharCode((rest & 127) | 128)
  return text + String.fromCharCode(rest)
}

const NEVER_INDEXED = 0x10
