import type { UpstreamError } from '@portico/http/client'
import type { Failure } from '../../pipeline/context/failure.ts'
import type { TargetFailureCause } from '../../records/mcp-record.ts'
import type { TargetFailure } from '../transport.ts'

/** Converts the refusal by a policy of the target to a failure, so that clients get its status and headers. */
export function stopped({ status, message, reason, reply }: Failure): TargetFailure {
  if (reply === undefined || (status !== 401 && status !== 403)) return { code: 'unavailable', message }
  return { code: 'refused', cause: 'other', message, status, reason, headers: reply.headers, body: reply.body }
}

/** Converts the error of a connection to a failure; `isSessionLost` when only the address that failed knew the session. */
export function connectionFailure(error: UpstreamError, isSessionLost = false): TargetFailure {
  const code = isSessionLost ? 'session_lost' : error.unsent ? 'unavailable' : 'broken'
  return { code, cause: CAUSES[error.code], message: error.message }
}

const CAUSES: Readonly<Record<UpstreamError['code'], TargetFailureCause>> = {
  dns_failed: 'unreachable',
  no_endpoints: 'unreachable',
  no_targets: 'unreachable',
  endpoint_gone: 'unreachable',
  connect_failed: 'unreachable',
  connect_timeout: 'unreachable',
  tls_failed: 'unreachable',
  connection_lost: 'lost',
  response_timeout: 'timeout',
  bad_response: 'invalid_response',
  invalid_backend: 'other',
  picker_failed: 'other',
  no_member_picked: 'other',
  address_refused: 'other',
  loop_detected: 'other',
  internal: 'other',
}
