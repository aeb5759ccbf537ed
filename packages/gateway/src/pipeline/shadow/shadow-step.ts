import { reportFault } from '@portico/http/faults'
import { bufferRequest } from '../body/buffered-body.ts'
import type { BodyUse } from '../context/body-use.ts'
import type { Reply } from '../context/reply.ts'
import type { RequestContext } from '../context/request-context.ts'
import type { RequestStep, Step, StepResult } from '../context/step.ts'
import type { ShadowOutcome } from '../../records/shadow-outcome.ts'
import { resultsOf, type ShadowResults } from './fork.ts'
import { ShadowsOfRequest, type ShadowServices } from './request-shadows.ts'
import { eventOf, faultOutcome, verdictOf } from './verdict.ts'

/**
 * Returns the shadow of a policy's step: it runs the step on a copy of the request, records what the step would have
 * done, and never stops, delays or changes the request. The parts of the step for responses do not run.
 */
export function createShadowStep(
  policy: string,
  step: Step,
  { requestBody, ...services }: ShadowServices & { requestBody: BodyUse },
): RequestStep {
  const { done } = step
  const request = step.judge ?? step.request
  if (request === undefined) return {}
  const judgesInPlace = step.onlyReads === true && requestBody === 'none'
  const readBody = requestBody === 'none' ? null : bufferRequest(requestBody, services.maxBufferBytes)
  return {
    request(rx) {
      const shadows = ShadowsOfRequest.of(rx, services)
      try {
        if (judgesInPlace && !shadows.hasResults) shadows.add(told(rx, judge(rx, policy, request)))
        else runOnCopy(rx, shadows)
      } catch (error) {
        shadows.add(told(rx, fault(policy, error)))
      }
    },
  }

  function runOnCopy(rx: RequestContext, shadows: ShadowsOfRequest): void {
    const fork = shadows.fork(rx, policy, done)
    let before: ShadowResults = rx
    const result = shadows.run(fork, () => {
      before = resultsOf(fork)
      const read = readBody === null ? undefined : readBody(fork)
      return read instanceof Promise ? read.then((reply) => reply ?? request?.(fork)) : (read ?? request?.(fork))
    })
    if (!(result instanceof Promise)) {
      shadows.keep(rx, fork, before)
      shadows.add(told(rx, verdictOf(policy, result, fork)))
      return
    }
    const set = shadows.begin(policy)
    if (rx.trace !== null) rx.trace.note({ shadow: 'runs beside the request' })
    const conclude = (outcome: ShadowOutcome): void => {
      if (rx.trace !== null && set(outcome)) rx.trace.emit({ type: 'shadowResult', ...eventOf(outcome) })
      else set(outcome)
    }
    const ended = result.then(
      (reply) => {
        shadows.keep(rx, fork, before)
        conclude(verdictOf(policy, reply, fork))
      },
      (error: unknown) => conclude(fault(policy, error)),
    )
    // Later shadow policies wait for a step that finds data they may read, such as JWT claims.
    if (step.onlyReads !== true && step.findsNothing !== true) shadows.follow(ended)
  }
}

/** Runs a read-only step on the request itself, then restores the fields that the step has set. */
function judge(rx: RequestContext, policy: string, request: (rx: RequestContext) => StepResult): ShadowOutcome {
  const { notes, error, trace } = rx
  rx.notes = null
  rx.error = null
  if (trace !== null) rx.trace = trace.shadowOf(policy)
  try {
    return verdictOf(policy, request(rx) as Reply | void, rx)
  } finally {
    rx.notes = notes
    rx.error = error
    rx.trace = trace
  }
}

function fault(policy: string, error: unknown): ShadowOutcome {
  reportFault(error, 'request')
  return faultOutcome(policy)
}

/** Adds the outcome of a shadow policy to its event in the trace. */
function told(rx: RequestContext, outcome: ShadowOutcome): ShadowOutcome {
  if (rx.trace !== null) rx.trace.note(eventOf(outcome))
  return outcome
}
