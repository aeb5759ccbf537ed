import type { Failure } from '../context/failure.ts'
import type { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'
import { failureReply } from '../compiled/failure-reply.ts'

/** The problem of a credential, for records. */
export type CredentialCheck = 'missing' | 'several' | 'malformed' | 'unknown' | 'disabled' | 'expired' | 'early'

/** Denies a request whose credential is missing or wrong; `challenge` tells the client how to authenticate. */
export function refuseCredential(
  rx: RequestContext,
  failure: Failure,
  challenge: readonly [name: string, value: string] | null,
): Reply {
  rx.error = failure.message
  const reply = failureReply(failure, rx.headers.get('content-type'))
  if (challenge !== null) reply.headers.add(...challenge)
  return reply
}
