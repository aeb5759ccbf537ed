import { DEADLINE_EXCEEDED, isGrpcContentType } from '@portico/http/grpc'
import { HeaderBlock } from '@portico/http'
import { type Failure, isDeadline } from '../context/failure.ts'
import { Reply } from '../context/reply.ts'
import type { RequestContext, TellFailure } from '../context/request-context.ts'
import type { BackendIdentity } from './compiled.ts'

/** The one place that makes a response of an error: a line of text, or the status a gRPC client reads. */
export function failureReply(failure: Failure, requestContentType: string | null): Reply {
  const headers = new HeaderBlock()
  if (requestContentType !== null && isGrpcContentType(requestContentType)) {
    headers.add('content-type', 'application/grpc')
    headers.add('grpc-status', String(grpcStatus(failure)))
    headers.add('grpc-message', encodeURIComponent(failure.message))
    return new Reply(200, { headers, reason: failure.reason })
  }
  headers.add('content-type', 'text/plain')
  const { status, message, reason } = failure
  return new Reply(status, { headers, body: Buffer.from(message), reason, failure: message })
}

/** The same as clients of the route read errors, where they expect something else than a line of text. */
export function inClientsFormat(rx: RequestContext, reply: Reply): Reply {
  const tell = reply.failure === null ? null : (rx.route?.tellFailure ?? null)
  const told = tell === null ? null : tell(reply, rx)
  if (told === null) return reply
  for (const [name, value] of told.headers) reply.headers.set(name, value)
  return new Reply(reply.status, { headers: reply.headers, body: told.body, reason: reply.reason })
}

/** Before a backend of a route is picked, the first one speaks for all, if all have something to say. */
export function tellFailureOf(backends: readonly Pick<BackendIdentity, 'tellFailure'>[]): TellFailure | null {
  const all = backends.flatMap(({ tellFailure }) => tellFailure ?? [])
  const [first] = all
  if (first === undefined || all.length < backends.length) return null
  return (failure, rx) => (all[rx.backendIndex] ?? first)(failure, rx)
}

function grpcStatus(failure: Failure): number {
  if (failure.reason === 'NoHealthyBackend') return 14
  if (failure.code !== undefined && isDeadline(failure.code)) return DEADLINE_EXCEEDED
  switch (failure.status) {
    case 400:
      return 13
    case 401:
    case 407:
      return 16
    case 403:
      return 7
    case 404:
      return 12
    case 429:
    case 502:
    case 503:
    case 504:
      return 14
    default:
      return 2
  }
}
