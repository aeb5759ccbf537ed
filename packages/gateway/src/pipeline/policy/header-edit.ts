import { fieldText, type HeaderBlock, isConnectionField, isHeaderValue } from '@portico/http'
import type { HeaderValue, HeaderValueOption } from '../../protos/envoy/config/core/v3/base.ts'
import type { HeaderEdit } from '../context/request-context.ts'

/** Changes a header as it is asked for; names and values were made by `headerEdit`. */
export function applyEdit({ name, value, way }: HeaderEdit, headers: HeaderBlock): void {
  if (way === 'append') return headers.add(name, value)
  if (way !== 'set' && headers.has(name) !== (way === 'present')) return
  // What many servers take for that name must not stand beside it.
  headers.removeAlike(name)
  headers.add(name, value)
}

/**
 * A header that a service outside has set, and that cannot stand in a message. The request must not go on without it: the
 * client may have sent a header of that name itself.
 */
export class InvalidHeader {
  /** The name, fit for logs; the value may be a secret. */
  readonly header: string

  constructor(name: string) {
    this.header = name.replace(/[^\x21-\x7e]/g, '?').slice(0, MAX_NAME)
  }

  get message(): string {
    return `invalid header ${this.header}`
  }
}

/**
 * Null for what must not be changed from outside. The value has one code per byte, as header blocks have it: `fieldText`
 * makes one of a text.
 */
export function headerEdit(name: string, value: string, way: HeaderEdit['way']): HeaderEdit | InvalidHeader | null {
  const lowerName = name.toLowerCase()
  if (!isEditable(lowerName)) return isName(lowerName) || lowerName.startsWith(':') ? null : new InvalidHeader(name)
  const text = value.replace(BLANKS, '')
  return isHeaderValue(text) ? { name: lowerName, value: text, way } : new InvalidHeader(name)
}

/** All edits, or the first that is not possible: then none must be applied. */
export function allEdits(edits: Iterable<HeaderEdit | InvalidHeader | null>): HeaderEdit[] | InvalidHeader {
  const all: HeaderEdit[] = []
  for (const edit of edits) {
    if (edit instanceof InvalidHeader) return edit
    if (edit !== null) all.push(edit)
  }
  return all
}

/**
 * The same of a header as services of Envoy's kind send it. An option without `append_action` carries the first action
 * on the wire: then the older field `append` decides, and without that field `otherwise`.
 */
export function editOf(
  option: HeaderValueOption,
  otherwise: 'set' | 'append' = 'set',
): HeaderEdit | InvalidHeader | null {
  const { header, append, appendAction } = option
  if (header === undefined) return null
  const unset = append === undefined ? otherwise : append ? 'append' : 'set'
  const way = appendAction === 0 ? unset : (WAYS[appendAction] ?? 'set')
  return headerEdit(header.key, valueOf(header), way)
}

/** The same of a list. */
export function editsOf(
  options: readonly HeaderValueOption[],
  otherwise: 'set' | 'append' = 'set',
): HeaderEdit[] | InvalidHeader {
  return allEdits(options.map((option) => editOf(option, otherwise)))
}

/** The value with one code per byte: `raw_value` may hold bytes that are no UTF-8. */
export function valueOf({ value, rawValue }: HeaderValue): string {
  return value === '' ? Buffer.from(rawValue).toString('latin1') : fieldText(value)
}

const WAYS: readonly HeaderEdit['way'][] = ['append', 'absent', 'set', 'present']

/** Whether somebody outside may change a header (name in lower case): how a message is framed and routed is not theirs. */
export function isEditable(name: string): boolean {
  return isName(name) && name !== 'content-length' && !isConnectionField(name)
}

function isName(name: string): boolean {
  return /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)
}

/** At the ends of a value they are no part of it; a line break is a mistake anywhere. */
const BLANKS = /^[ \t]+|[ \t]+$/g
const MAX_NAME = 64
