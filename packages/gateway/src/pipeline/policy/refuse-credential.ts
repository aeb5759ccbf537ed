import type { Failure } from '../context/failure.ts'
import type { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'
import { failureReply } from '../compiled/failure-reply.ts'

/** What is wrong with a credential, for records. */
export type CredentialCheck = 'missing' | 'several' | 'malformed' | 'unknown'

/** Refuses a request whose credential is missing or wrong, with what a client needs to try again. */
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
