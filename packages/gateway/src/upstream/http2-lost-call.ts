import { constants } from 'node:http2'
import type { Carrier } from './http2-carrier.ts'
import { lostUnanswered, UpstreamError } from './upstream-types.ts'

/** What is known of a call whose stream closed before its response was whole. */
export interface LostCall {
  readonly connection: Carrier
  readonly streamId: number | undefined
  /** The HTTP/2 error code that the stream closed with. */
  readonly resetCode: number | undefined
  /** Nothing of a response has come. */
  readonly awaitsHead: boolean
  /** The backend has sent bytes that are not HTTP/2. */
  readonly isBroken: boolean
  /** The connection had carried others before, and nothing has come for this one. */
  readonly mayBeStale: boolean
}

/** Says why the call failed, and whether it may be sent again. */
export function lostCallError(call: LostCall): UpstreamError {
  const { connection, resetCode: code, awaitsHead } = call
  if (code === constants.NGHTTP2_PROTOCOL_ERROR) {
    return new UpstreamError('bad_response', 'stream broke the rules of HTTP/2', false)
  }
  if (call.isBroken) return new UpstreamError('bad_response', 'connection broke the rules of HTTP/2', false)
  if (awaitsHead && (code === constants.NGHTTP2_REFUSED_STREAM || connection.disowned(call.streamId))) {
    return new UpstreamError('connection_lost', 'stream refused by the backend', true)
  }
  const { isLost, lostBecause } = connection
  if (awaitsHead && isLost) return lostUnanswered(call.mayBeStale, lostBecause)
  const message = 'stream closed before the response ended'
  if (isLost) {
    return new UpstreamError('connection_lost', `${message} (${lostBecause ?? 'connection closed'})`, false)
  }
  return new UpstreamError('connection_lost', `${message} (code ${code})`, false, { resetCode: code ?? null })
}
