import type { AttemptStepList, BackendIdentity } from '../compiled/compiled.ts'
import { type Failure, failures } from '../context/failure.ts'
import type { OutgoingRequest } from '../context/outgoing.ts'
import type { RequestContext } from '../context/request-context.ts'

/** One attempt under way to a backend. */
export interface Attempt {
  outgoing: OutgoingRequest
  rx: RequestContext
  /** False once nobody waits for it any more: what is left is not run. */
  isWanted: () => boolean
  /** A bug in a step: the request is answered, the error must be seen. */
  bug: (error: unknown) => void
  /** What a kind of backend adds itself, behind all policies and before the signature. */
  finish?: () => void
}

/** Nothing to go on, a failure to stop. */
export type Prepared = Failure | undefined

/**
 * What the policies of a backend do to one attempt, and what signs it. Stays synchronous until one of them really
 * waits; the promise never rejects.
 */
export function prepareAttempt(
  { request, sign }: Pick<BackendIdentity, 'request' | 'sign'>,
  attempt: Attempt,
): Prepared | Promise<Prepared> {
  const first = request === null ? undefined : runFrom(0, request, attempt)
  if (first instanceof Promise) return first.then((failure) => failure ?? finish(sign, attempt))
  return first ?? finish(sign, attempt)
}

function finish(sign: AttemptStepList | null, attempt: Attempt): Prepared | Promise<Prepared> {
  if (!attempt.isWanted()) return undefined
  try {
    attempt.finish?.()
  } catch (error) {
    return broken(error, attempt)
  }
  return sign === null ? undefined : runFrom(0, sign, attempt)
}

/** Names and functions are of one length. */
function runFrom(start: number, steps: AttemptStepList, attempt: Attempt): Prepared | Promise<Prepared> {
  const { outgoing, rx } = attempt
  const { run, names } = steps
  for (let i = start; i < run.length; i++) {
    let result
    try {
      result = run[i]!(outgoing, rx)
    } catch (error) {
      return broken(error, attempt)
    }
    if (result instanceof Promise) {
      return result.then(
        (failure) => {
          if (!attempt.isWanted()) return failure ?? undefined
          rx.trace?.policy(names[i]!, 'backend', failure)
          if (failure !== undefined) return stopped(rx, failure, names, i)
          return runFrom(i + 1, steps, attempt)
        },
        (error: unknown) => broken(error, attempt),
      )
    }
    if (rx.trace !== null) rx.trace.policy(names[i]!, 'backend', result)
    if (result !== undefined) return stopped(rx, result, names, i)
  }
  return undefined
}

/** For the record. */
function stopped(rx: RequestContext, failure: Failure, names: readonly string[], index: number): Failure {
  const { reason, status } = failure
  rx.decision ??= { phase: 'backend', names, index, reason, status, at: rx.startedAt }
  return failure
}

function broken(error: unknown, attempt: Attempt): Failure {
  attempt.bug(error)
  return failures.internal
}
