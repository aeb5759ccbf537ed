import type { Failure } from '../../pipeline/context/failure.ts'
import type { TargetFailure } from '../transport.ts'

/** What a policy of the target stands in the way with: clients must hear what they lack, as from the target itself. */
export function stopped({ status, message, reason, reply }: Failure): TargetFailure {
  if (reply === undefined || (status !== 401 && status !== 403)) return { code: 'unavailable', message }
  return { code: 'refused', message, status, reason, headers: reply.headers, body: reply.body }
}
