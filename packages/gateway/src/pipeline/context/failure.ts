import type { UpstreamError } from '@portico/http/client'
import type { Reason, Reply } from './reply.ts'

/** The failure of a request; `failureReply` converts it to a response. */
export interface Failure {
  status: number
  message: string
  reason: Reason
  /** Distinguishes failures of the same reason in records. */
  code?: string
  /** The exact response for the client, when a service has given one. */
  reply?: Reply
}

export const failures = {
  listenerNotFound: { status: 404, message: 'listener not found', reason: 'NotFound', code: 'listener_not_found' },
  routeNotFound: { status: 404, message: 'route not found', reason: 'NotFound', code: 'route_not_found' },
  loopDetected: { status: 508, message: 'loop detected', reason: 'LoopDetected', code: 'loop_detected' },
  misdirected: { status: 421, message: 'misdirected request', reason: 'NotFound', code: 'misdirected' },
  methodNotAllowed: {
    status: 405,
    message: 'method not allowed',
    reason: 'InvalidRequest',
    code: 'method_not_allowed',
  },
  upgradeNotAllowed: {
    status: 403,
    message: 'upgrade not allowed',
    reason: 'InvalidRequest',
    code: 'upgrade_not_allowed',
  },
  requestTooLarge: {
    status: 413,
    message: 'request body too large to buffer',
    reason: 'InvalidRequest',
    code: 'request_too_large',
  },
  responseTooLarge: {
    status: 502,
    message: 'response body too large to buffer',
    reason: 'UpstreamFailure',
    code: 'response_too_large',
  },
  noValidBackends: { status: 500, message: 'no valid backends', reason: 'NoHealthyBackend', code: 'no_valid_backends' },
  requestTimeout: { status: 504, message: 'request timeout', reason: 'Timeout', code: 'request_timeout' },
  retryBudgetSpent: {
    status: 503,
    message: 'upstream retry budget exhausted',
    reason: 'UpstreamFailure',
    code: 'retry_budget_spent',
  },
  upgradeFailed: { status: 502, message: 'request upgrade failed', reason: 'UpstreamFailure', code: 'upgrade_failed' },
  quarantined: { status: 500, message: 'quarantined by a config fault', reason: 'Internal', code: 'quarantined' },
  internal: { status: 500, message: 'internal error', reason: 'Internal', code: 'internal' },
} satisfies Record<string, Failure>

/** Whether a failure with this code is a backend that had the request and was too slow; a slow connect is not. */
export function isDeadline(code: string): boolean {
  return code === 'request_timeout' || code === 'response_timeout'
}

export function upstreamFailure(error: UpstreamError): Failure {
  return { ...replyTo(error), code: error.code }
}

function replyTo(error: UpstreamError): Failure {
  switch (error.code) {
    case 'dns_failed':
      return { status: 503, message: 'backends required DNS resolution which failed', reason: 'NoHealthyBackend' }
    case 'no_endpoints':
    case 'endpoint_gone':
      return { status: 503, message: 'no healthy backends', reason: 'NoHealthyBackend' }
    case 'no_targets':
      return { status: 503, message: error.message, reason: 'NoHealthyBackend' }
    case 'picker_failed':
    case 'no_member_picked':
      return { status: 503, message: error.message, reason: 'InferencePool' }
    case 'invalid_backend':
      return failures.noValidBackends
    case 'loop_detected':
      return failures.loopDetected
    case 'internal':
      return failures.internal
    case 'address_refused':
      return { status: 403, message: `destination refused: ${error.message}`, reason: 'InvalidRequest' }
    case 'connect_timeout':
    case 'response_timeout':
      return { status: 504, message: 'upstream call timeout', reason: 'Timeout' }
    case 'bad_response':
      return { status: 502, message: `upstream response invalid: ${error.message}`, reason: 'UpstreamFailure' }
    case 'connect_failed':
    case 'tls_failed':
    case 'connection_lost':
      return { status: 503, message: `upstream call failed: ${error.message}`, reason: 'UpstreamFailure' }
  }
}
