import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Reply } from '../../../pipeline/context/reply.ts'
import type { ProcessingSettings } from './processing-settings.ts'

/** The request whose stream to the processor ended early, for logs, metrics and the trace. */
export interface Outcome {
  rx: RequestContext
  /** A step waits for it; after that, the trace gets an event of its own. */
  isInStep: boolean
}

/** `goesOn` without the processor. */
export function tellFault(
  { rx, isInStep }: Outcome,
  cause: string,
  goesOn: boolean,
  { failureMode, log }: ProcessingSettings,
): void {
  const told = { code: goesOn ? 'gone_on' : 'failed', cause, failureMode }
  if (!goesOn) rx.notes = told
  if (isInStep) rx.trace?.note(told)
  else rx.trace?.emit({ type: 'policyEvent', kind: 'extProc', details: told }, goesOn ? 'warn' : 'error')
  log.warn('the processor failed', { cause, failureMode, route: rx.routeName })
}

/** The processor answers in the place of the backend. */
export function tellAnswer({ rx, isInStep }: Outcome, { status }: Reply, details: string): void {
  const told = { code: 'answered', status, details }
  rx.notes = told
  if (isInStep) rx.trace?.note(told)
  else rx.trace?.emit({ type: 'policyEvent', kind: 'extProc', details: told })
}
