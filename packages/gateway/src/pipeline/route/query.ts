import { formDecode } from '../../formats/form-decode.ts'

/** Form-decoded value of the first pair with this name (Gateway API: the first of repeated keys counts), or null. */
export function firstQueryValue(query: string, name: string): string | null {
  let start = 0
  while (start < query.length) {
    let end = query.indexOf('&', start)
    if (end === -1) end = query.length
    const equals = query.indexOf('=', start)
    const nameEnd = equals === -1 || equals > end ? end : equals
    if (end > start && formDecode(query.slice(start, nameEnd)) === name) {
      return nameEnd === end ? '' : formDecode(query.slice(nameEnd + 1, end))
    }
    start = end + 1
  }
  return null
}
