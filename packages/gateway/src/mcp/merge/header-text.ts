import { isUtf8 } from 'node:buffer'
import { askedItem } from './item-methods.ts'
import type { RpcMessage } from '../protocol.ts'

/** Decodes a header value, in which text other than printable ASCII is encoded as `=?base64?…?=`; null when it is invalid. */
export function decodeHeaderText(text: string): string | null {
  const encoded = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text)?.[1]
  if (encoded !== undefined) {
    const bytes = Buffer.from(encoded, 'base64')
    const decoded = bytes.toString('utf8')
    return Buffer.from(decoded, 'utf8').equals(bytes) ? decoded : null
  }
  if (/^[\x20-\x7e]*$/.test(text)) return text
  // Some clients send raw UTF-8 bytes; header values have one character per byte.
  const bytes = Buffer.from(text, 'latin1')
  return /^[\x20-\x7e\x80-\xff]*$/.test(text) && isUtf8(bytes) ? bytes.toString('utf8') : null
}

export function encodeHeaderText(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !text.startsWith('=?base64?')
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`
}

/** Returns the name that `Mcp-Name` must repeat; null for methods without this header. */
export function mirroredName(message: RpcMessage): string | null {
  return NAMED.has(message.method) ? (askedItem(message)?.exposed ?? null) : null
}

/** The methods whose name is repeated in a header; methods of extensions are not among them. */
const NAMED = new Set(['tools/call', 'prompts/get', 'resources/read', 'tasks/get', 'tasks/update', 'tasks/cancel'])
