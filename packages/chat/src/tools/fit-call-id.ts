import { crc32 } from 'node:zlib'

/**
 * An id of a tool call in the letters and the length that a vendor takes. The same id gives the same one each time, so
 * that a call and its result still belong together.
 */
export function fitCallId(id: string, maxLength: number): string {
  if (id !== '' && id.length <= maxLength && !INVALID.test(id)) return id
  const hash = crc32(id).toString(16).padStart(HASH_LENGTH, '0')
  const kept = id.replaceAll(new RegExp(INVALID, 'g'), '_').slice(0, maxLength - 1 - HASH_LENGTH)
  return `${kept}_${hash}`
}

const INVALID = /[^A-Za-z0-9_-]/
const HASH_LENGTH = 8
