import { errorName, REFUSED_STREAM } from '../net/http2/frames.ts'
import { lostUnanswered, UpstreamError } from './upstream-types.ts'

/** The backend said that it will not look at the stream: the call may be sent again. */
export function refusedCall(): UpstreamError {
  return new UpstreamError('connection_lost', 'stream refused by the backend', true)
}

/** Says why a call failed whose stream the backend has reset. */
export function resetCall(code: number, awaitsHead: boolean): UpstreamError {
  if (awaitsHead && code === REFUSED_STREAM) return refusedCall()
  return new UpstreamError('connection_lost', `${CUT} (code ${code})`, false, { resetCode: code })
}

/** Says why a call failed whose connection is gone; `because` where the backend did not just close it. */
export function lostCall(awaitsHead: boolean, mayBeStale: boolean, because: string | null): UpstreamError {
  if (awaitsHead) return lostUnanswered(mayBeStale, because)
  return new UpstreamError('connection_lost', `${CUT} (${because ?? 'connection closed'})`, false)
}

/** Every call on a connection that broke the rules fails with it. */
export function brokenConnection(code: number): UpstreamError {
  return new UpstreamError('bad_response', `connection broke the rules of HTTP/2 (${errorName(code)})`, false)
}

const CUT = 'stream closed before the response ended'
