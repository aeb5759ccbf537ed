import type { Failure } from './failure.ts'
import type { Reply } from './reply.ts'
import type { Rx } from './request.ts'
import { rescue } from './rescue.ts'

/** Refuses a request whose credential is missing or wrong, with what a client needs to try again. */
export function refuseCredential(
  rx: Rx,
  failure: Failure,
  challenge: readonly [name: string, value: string] | null,
): Reply {
  rx.error = failure.message
  const reply = rescue(failure, rx.headers.get('content-type'))
  if (challenge !== null) reply.headers.add(...challenge)
  return reply
}
