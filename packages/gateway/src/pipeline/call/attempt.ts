import type { UpstreamCall, UpstreamHandler, UpstreamResponse } from '@portico/http/client'
import type { AttemptStepList, BackendIdentity, CompiledBackend } from '../compiled/compiled.ts'
import { contextWith } from '../context/context-with.ts'
import { type Failure, failures } from '../context/failure.ts'
import type { OutgoingRequest } from '../context/outgoing.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { CallContext } from '../context/step.ts'
import type { Expression } from '../expression/expression.ts'
import { follow } from './follow.ts'

/** One attempt of a request to a backend. */
export interface Attempt {
  outgoing: OutgoingRequest
  rx: RequestContext
  /** Returns false once the attempt was canceled; its remaining steps do not run then. */
  isWanted: () => boolean
  /** Reports an exception of a step, which is a bug; the attempt fails. */
  bug: (error: unknown) => void
  /** The changes of the backend's kind, made after all policies and before the signature. */
  finish?: () => void
}

/** The failure that stops an attempt; undefined when the attempt may be sent. */
type AttemptFailure = Failure | undefined

/**
 * Runs the policies of a backend on one attempt, and then signs the attempt. Synchronous until a step returns a promise;
 * the returned promise never rejects.
 */
export function prepareAttempt(
  { request, sign }: Pick<BackendIdentity, 'request' | 'sign'>,
  attempt: Attempt,
): AttemptFailure | Promise<AttemptFailure> {
  const first = request === null ? undefined : runFrom(0, request, attempt)
  if (first instanceof Promise) return first.then((failure) => failure ?? finish(sign, attempt))
  return first ?? finish(sign, attempt)
}

function finish(sign: AttemptStepList | null, attempt: Attempt): AttemptFailure | Promise<AttemptFailure> {
  if (!attempt.isWanted()) return undefined
  try {
    attempt.finish?.()
  } catch (error) {
    return broken(error, attempt)
  }
  return sign === null ? undefined : runFrom(0, sign, attempt)
}

/** `names` and `run` have the same length, so the `!` are safe. */
function runFrom(start: number, steps: AttemptStepList, attempt: Attempt): AttemptFailure | Promise<AttemptFailure> {
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

/** Keeps the step that failed, for the record of the request. */
function stopped(rx: RequestContext, failure: Failure, names: readonly string[], index: number): Failure {
  const { reason, status } = failure
  rx.decision ??= { phase: 'backend', names, index, reason, status, at: rx.startedAt }
  return failure
}

function broken(error: unknown, attempt: Attempt): Failure {
  attempt.bug(error)
  return failures.internal
}

export interface SentAttempt extends Attempt {
  context: CallContext
  handler: UpstreamHandler
  /** Called in place of `sent` when a step stopped the attempt. */
  refused: (why: Failure) => void
  sent: (call: UpstreamCall) => void
}

/** Runs the policies of the backend on one attempt and sends the attempt. */
export function sendAttempt(backend: CompiledBackend, attempt: SentAttempt): void {
  const { outgoing, rx, context, handler, isWanted, refused, sent } = attempt
  const go = (failure: Failure | undefined): void => {
    if (!isWanted()) return
    if (failure !== undefined) return refused(failure)
    if (rx.trace !== null) rx.trace.sending(outgoing, backend)
    sent(backend.send(outgoing, withUnhealthyCondition(backend, context, rx), handler))
  }
  const prepared = prepareAttempt(backend, attempt)
  if (prepared instanceof Promise) follow(rx, prepared.then(go))
  else go(prepared)
}

/** Returns the context with the unhealthy condition of this backend, if it has one. */
function withUnhealthyCondition(
  { unhealthyCondition }: CompiledBackend,
  context: CallContext,
  rx: RequestContext,
): CallContext {
  if (unhealthyCondition === null) return context
  return contextWith(context, { rx, isUnhealthy: (response) => marksUnhealthy(unhealthyCondition, rx, response) })
}

/** Whether a response marks its endpoint unhealthy; null as `condition` decides by the status. */
export function marksUnhealthy(
  condition: Expression | null,
  rx: RequestContext,
  { status, headers }: Pick<UpstreamResponse, 'status' | 'headers'>,
): boolean {
  if (condition === null) return status >= 500
  const before = { status: rx.status, headers: rx.responseHeaders }
  rx.status = status
  rx.responseHeaders = headers
  const isUnhealthy = condition.isTrue(rx)
  // This may not become the response of the request, or the response has already begun: restore both fields.
  rx.status = before.status
  rx.responseHeaders = before.headers
  return isUnhealthy
}
