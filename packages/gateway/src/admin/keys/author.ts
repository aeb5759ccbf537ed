import type { IncomingMessage } from 'node:http'
import { PROOF_HEADER } from '../sessions.ts'

/** The credential of an admin request, for lists of changes. The guard has checked it; the text has no secret. */
export function authorOf({ headers, socket }: IncomingMessage): string {
  const credential =
    headers[PROOF_HEADER] !== undefined
      ? 'session of the web UI'
      : headers.authorization !== undefined
        ? 'admin token'
        : 'no token'
  const address = socket.remoteAddress
  return `${credential}, from ${address === undefined ? 'a unix socket' : address.replace(/^::ffff:/, '')}`
}
