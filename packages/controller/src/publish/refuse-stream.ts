import { constants, type ServerHttp2Stream } from 'node:http2'
import { type Refusal, REFUSALS } from './counts.ts'

/** Rejects a stream with its reason. */
export function refuseStream(stream: ServerHttp2Stream, reason: Refusal): void {
  if (stream.destroyed || stream.closed || stream.headersSent) return
  const headers = { ':status': STATUSES[reason] ?? 400, 'content-type': 'text/plain' }
  stream.respond(headers)
  // Pending input of the client is dropped.
  stream.end(`${REFUSALS[reason]}\n`, () => stream.close(constants.NGHTTP2_NO_ERROR))
}

const STATUSES: Partial<Record<Refusal, number>> = {
  unknown_path: 404,
  no_token: 401,
  token: 401,
  review_failed: 503,
  busy: 503,
  too_many_streams: 429,
  no_hello: 408,
  malformed: 400,
  foreign_gateway: 403,
  no_controller: 403,
  closing: 503,
}

/** The address of the client; undefined when the connection is closed. */
export function addressOf({ session }: ServerHttp2Stream): string | undefined {
  return session === undefined || session.destroyed ? undefined : session.socket.remoteAddress
}
