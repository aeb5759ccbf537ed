import { fieldText, type HeaderBlock, isConnectionField, isHeaderValue } from '@portico/http'
import type { HeaderValue, HeaderValueOption } from '../../protos/envoy/config/core/v3/base.ts'
import type { HeaderEdit } from '../context/request-context.ts'

/** Applies an edit that `headerEdit` has checked. */
export function applyEdit({ name, value, way }: HeaderEdit, headers: HeaderBlock): void {
  if (way === 'append') return headers.add(name, value)
  if (way !== 'set' && headers.has(name) !== (way === 'present')) return
  // Many servers read `x_y` as `x-y`, so such spellings are removed too.
  headers.removeAlike(name)
  headers.add(name, value)
}

/**
 * An invalid header from an external service. The request must not continue without the header, because the client may have
 * sent its own header of that name.
 */
export class InvalidHeader {
  /** The name, printable; the value is not kept, because it may be a secret. */
  readonly header: string

  constructor(name: string) {
    this.header = name.replace(/[^\x21-\x7e]/g, '?').slice(0, MAX_NAME)
  }

  get message(): string {
    return `invalid header ${this.header}`
  }
}

/**
 * Checks an edit from an external service; null when external services must not change this header. The value has one
 * character code per byte, as in header blocks; `fieldText` converts a text to such a value.
 */
export function headerEdit(name: string, value: string, way: HeaderEdit['way']): HeaderEdit | InvalidHeader | null {
  const lowerName = name.toLowerCase()
  if (!isEditable(lowerName)) return isName(lowerName) || lowerName.startsWith(':') ? null : new InvalidHeader(name)
  const text = value.replace(BLANKS, '')
  return isHeaderValue(text) ? { name: lowerName, value: text, way } : new InvalidHeader(name)
}

/** Returns all edits, or the first invalid header; no edit must be applied then. */
export function allEdits(edits: Iterable<HeaderEdit | InvalidHeader | null>): HeaderEdit[] | InvalidHeader {
  const all: HeaderEdit[] = []
  for (const edit of edits) {
    if (edit instanceof InvalidHeader) return edit
    if (edit !== null) all.push(edit)
  }
  return all
}

/**
 * Converts and checks a header option of Envoy's APIs. An option without `append_action` carries the first action
 * on the wire: then the older field `append` decides, and without that field `otherwise`.
 */
function editOf(option: HeaderValueOption, otherwise: 'set' | 'append' = 'set'): HeaderEdit | InvalidHeader | null {
  const { header, append, appendAction } = option
  if (header === undefined) return null
  const unset = append === undefined ? otherwise : append ? 'append' : 'set'
  const way = appendAction === 0 ? unset : (WAYS[appendAction] ?? 'set')
  return headerEdit(header.key, valueOf(header), way)
}

/** Converts and checks a list of header options. */
export function editsOf(
  options: readonly HeaderValueOption[],
  otherwise: 'set' | 'append' = 'set',
): HeaderEdit[] | InvalidHeader {
  return allEdits(options.map((option) => editOf(option, otherwise)))
}

/** Returns the value with one character code per byte; `raw_value` may contain bytes that are not UTF-8. */
export function valueOf({ value, rawValue }: HeaderValue): string {
  return value === '' ? Buffer.from(rawValue).toString('latin1') : fieldText(value)
}

const WAYS: readonly HeaderEdit['way'][] = ['append', 'absent', 'set', 'present']

/** Whether external services may change a header (name in lower case): not the headers for framing and connections. */
export function isEditable(name: string): boolean {
  return isName(name) && name !== 'content-length' && !isConnectionField(name)
}

function isName(name: string): boolean {
  return /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)
}

/** Blanks at the ends of a value, which are not part of the value. */
const BLANKS = /^[ \t]+|[ \t]+$/g
const MAX_NAME = 64
