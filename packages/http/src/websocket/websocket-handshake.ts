import { createHash, randomBytes } from 'node:crypto'

/** The challenge header of a WebSocket client over HTTP/1.1, which the server must answer (RFC 6455 section 4.1). */
export const KEY_HEADER = 'sec-websocket-key'
export const ACCEPT_HEADER = 'sec-websocket-accept'

export function newKey(): string {
  return randomBytes(16).toString('base64')
}

/** Returns the `sec-websocket-accept` value for a key. */
export function acceptOf(key: string): string {
  return createHash('sha1').update(key).update(GUID).digest('base64')
}

const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
