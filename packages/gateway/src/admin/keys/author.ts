import type { IncomingMessage } from 'node:http'
import type { AdminCaller } from '../credentials.ts'

/** The author of a change, for lists of changes: the name of the token, and never the token itself. */
export function authorOf({ token, via }: AdminCaller, { socket }: IncomingMessage): string {
  const credential = token === null ? 'no token' : `token ${token}`
  const session = via === 'session' ? ', session of the web UI' : ''
  const address = socket.remoteAddress
  return `${credential}${session}, from ${address === undefined ? 'a unix socket' : address.replace(/^::ffff:/, '')}`
}
