import { STATIC_TABLE } from './tables.ts'

/**
 * Fields as blocks for the other side, in latin1 text. Nothing goes into its table: a block then depends on no other, the
 * same name has the same beginning on every connection, and there is no state to keep.
 */
export function statusField(status: number): string {
  return anyField(':status', String(status))
}

/** A field by its number where the static table has it whole, else as a literal. */
export function anyField(name: string, value: string): string {
  const index = STATIC_TABLE.findIndex((field) => field.name === name && field.value === value)
  return index === -1 ? literalField(name, value) : String.fromCharCode(0x80 + index + 1)
}

/** Name in lower case, value with one code per byte. */
export function literalField(name: string, value: string): string {
  return nameOf(name) + valueOf(value)
}

/** Says that the other side's table for our blocks may go; stands before the first field of a block. */
export const NO_TABLE = '\x20'

/** A literal that is not indexed, up to its value: by the number of the name where there is one. */
export function nameOf(name: string): string {
  const index = STATIC_TABLE.findIndex((field) => field.name === name)
  return index === -1 ? '\0' + valueOf(name) : integer(index + 1, 4)
}

/** The same for a secret: whoever passes it on must not put it into a table either (RFC 7541 section 7.1.3). */
export function secretNameOf(name: string): string {
  const begin = nameOf(name)
  return String.fromCharCode(begin.charCodeAt(0) | NEVER_INDEXED) + begin.slice(1)
}

/** A value as it ends a field. */
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
