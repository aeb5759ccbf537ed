import { isConnectionField } from '../net/field-rules.ts'
import { fieldText } from '../net/field-text.ts'
import { type HeaderBlock, isHeaderValue } from '../net/header-block.ts'
import type { HeaderValue, HeaderValueOption } from '../wire/protos/envoy/config/core/v3/base.ts'
import type { HeaderEdit } from './request-context.ts'

/** Changes a header as it is asked for; names and values were made by `headerEdit`. */
export function applyEdit({ name, value, way }: HeaderEdit, headers: HeaderBlock): void {
  if (way === 'append') return headers.add(name, value)
  if (way !== 'set' && headers.has(name) !== (way === 'present')) return
  // What many servers take for that name must not stand beside it.
  headers.removeAlike(name)
  headers.add(name, value)
}

/** Null for what must not be changed from outside, or cannot stand in a header. */
export function headerEdit(name: string, value: string, way: HeaderEdit['way']): HeaderEdit | null {
  const lowerName = name.toLowerCase()
  const text = fieldText(value).trim()
  return isEditable(lowerName) && isHeaderValue(text) ? { name: lowerName, value: text, way } : null
}

/**
 * The same of a header as services of Envoy's kind send it. The action that stands first in their list is what one gets
 * who sets none: then the older field decides.
 */
export function editOf(option: HeaderValueOption): HeaderEdit[] {
  const { header, append, appendAction } = option
  if (header === undefined) return []
  const way = appendAction === 0 ? (append === true ? 'append' : 'set') : (WAYS[appendAction] ?? 'set')
  const edit = headerEdit(header.key, valueOf(header), way)
  return edit === null ? [] : [edit]
}

/** Bytes stand in a field of their own. */
export function valueOf({ value, rawValue }: HeaderValue): string {
  return value === '' ? Buffer.from(rawValue).toString('utf8') : value
}

const WAYS: readonly HeaderEdit['way'][] = ['append', 'absent', 'set', 'present']

/** Whether somebody outside may change a header (name in lower case): how a message is framed and routed is not theirs. */
export function isEditable(name: string): boolean {
  return /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && name !== 'content-length' && !isConnectionField(name)
}
