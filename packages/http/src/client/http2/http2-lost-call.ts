import { errorName, REFUSED_STREAM } from '../../http2/frames.ts'
import { lostUnanswered, UpstreamError } from '../upstream-types.ts'

/** The error for a stream that the backend did not process: the call may be sent again. */
export function refusedCall(): UpstreamError {
  return new UpstreamError('connection_lost', 'stream refused by the backend', true)
}

/** The error for a stream that the backend has reset. */
export function resetCall(code: number, awaitsHead: boolean): UpstreamError {
  if (awaitsHead && code === REFUSED_STREAM) return refusedCall()
  return new UpstreamError('connection_lost', `${CUT} (code ${code})`, false, { resetCode: code })
}

/** The error for a call whose connection is gone; `because` is null when the backend just closed it. */
export function lostCall(awaitsHead: boolean, mayBeStale: boolean, because: string | null): UpstreamError {
  if (awaitsHead) return lostUnanswered(mayBeStale, because)
  return new UpstreamError('connection_lost', `${CUT} (${because ?? 'connection closed'})`, false)
}

/** The error for every call on a connection that violated HTTP/2. */
export function brokenConnection(code: number): UpstreamError {
  return new UpstreamError('bad_response', `connection broke the rules of HTTP/2 (${errorName(code)})`, false)
}

const CUT = 'stream closed before the response ended'
