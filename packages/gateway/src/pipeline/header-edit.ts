import { isConnectionField } from '../net/field-rules.ts'
import { fieldText } from '../net/field-text.ts'
import { type HeaderBlock, isHeaderValue } from '../net/header-block.ts'
import type { HeaderEdit } from './request-context.ts'

/** Changes a header as it is asked for; names and values were made by `headerEdit`. */
export function applyEdit({ name, value, way }: HeaderEdit, headers: HeaderBlock): void {
  const isThere = headers.has(name)
  if (way === 'append') headers.add(name, value)
  else if (way === 'set' || isThere === (way === 'present')) headers.set(name, value)
}

/** Null for what must not be changed from outside, or cannot stand in a header. */
export function headerEdit(name: string, value: string, way: HeaderEdit['way']): HeaderEdit | null {
  const lowerName = name.toLowerCase()
  const text = fieldText(value).trim()
  return isEditable(lowerName) && isHeaderValue(text) ? { name: lowerName, value: text, way } : null
}

/** Whether somebody outside may change a header (name in lower case): how a message is framed and routed is not theirs. */
export function isEditable(name: string): boolean {
  return /^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name) && name !== 'content-length' && !isConnectionField(name)
}
