import type { Failure } from '../../pipeline/context/failure.ts'
import type { TargetFailure } from '../transport.ts'

/** Converts the refusal by a policy of the target to a failure, so that clients get its status and headers. */
export function stopped({ status, message, reason, reply }: Failure): TargetFailure {
  if (reply === undefined || (status !== 401 && status !== 403)) return { code: 'unavailable', message }
  return { code: 'refused', message, status, reason, headers: reply.headers, body: reply.body }
}
