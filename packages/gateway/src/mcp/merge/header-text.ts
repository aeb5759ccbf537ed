import { isUtf8 } from 'node:buffer'
import { askedItem } from './for-target.ts'
import type { RpcMessage } from '../message.ts'

/** Texts in headers: what is not printable ASCII stands there as `=?base64?…?=`. */
export function decodeHeaderText(text: string): string | null {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text)?.[1]
  if (encoded !== undefined) {
    const bytes = Buffer.from(encoded, 'base64')
    const decoded = bytes.toString('utf8')
    return Buffer.from(decoded, 'utf8').equals(bytes) ? decoded : null
  }
  if (/^[\x20-\x7e]*$/.test(text)) return text
  // Some clients send the bytes of UTF-8 as they are; header text has one character for each byte.
  const bytes = Buffer.from(text, 'latin1')
  return /^[\x20-\x7e\x80-\xff]*$/.test(text) && isUtf8(bytes) ? bytes.toString('utf8') : null
}

export function encodeHeaderText(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}

/** What `Mcp-Name` must repeat; null for methods that the header is not for. */
export function mirroredName(message: RpcMessage): string | null {
  return NAMED.has(message.method) ? (askedItem(message)?.exposed ?? null) : null
}

/** Extensions have names of their own, and no header for them. */
const NAMED = new Set(['tools/call', 'prompts/get', 'resources/read', 'tasks/get', 'tasks/update', 'tasks/cancel'])
