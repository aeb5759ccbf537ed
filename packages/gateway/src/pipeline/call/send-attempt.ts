import { follow } from './follow.ts'
import type { UpstreamCall, UpstreamHandler } from '@portico/http/client'
import { type Attempt, prepareAttempt } from './attempt-steps.ts'
import type { CompiledBackend } from '../compiled/compiled.ts'
import { contextWith } from '../context/context-with.ts'
import type { Failure } from '../context/failure.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { CallContext } from '../context/step.ts'
import { speaksAgainst } from './unhealthy.ts'

export interface SentAttempt extends Attempt {
  context: CallContext
  handler: UpstreamHandler
  /** What stands in the way; nothing was sent then. */
  refused: (why: Failure) => void
  sent: (call: UpstreamCall) => void
}

/** Puts one attempt on its way, with the policies of the backend. */
export function sendAttempt(backend: CompiledBackend, attempt: SentAttempt): void {
  const { outgoing, rx, context, handler, isWanted, refused, sent } = attempt
  const go = (failure: Failure | undefined): void => {
    if (!isWanted()) return
    if (failure !== undefined) return refused(failure)
    if (rx.trace !== null) rx.trace.sending(outgoing, backend)
    sent(backend.send(outgoing, judgedBy(backend, context, rx), handler))
  }
  const prepared = prepareAttempt(backend, attempt)
  if (prepared instanceof Promise) follow(rx, prepared.then(go))
  else go(prepared)
}

/** A part of a backend has its own idea of what speaks against its health. */
function judgedBy({ unhealthyCondition }: CompiledBackend, context: CallContext, rx: RequestContext): CallContext {
  if (unhealthyCondition === null) return context
  return contextWith(context, { rx, isUnhealthy: (response) => speaksAgainst(unhealthyCondition, rx, response) })
}
