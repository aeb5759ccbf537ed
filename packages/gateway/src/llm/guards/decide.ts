import type { Guard, GuardContext, GuardNote, GuardPhase, Mask, Pass, Rejection, Verdict } from './guard.ts'
import { PASS } from './guard.ts'

/** A final verdict, with its note for the trace. */
export interface Decision {
  verdict: Pass | Mask | Rejection
  note: GuardNote
}

export interface Question {
  guard: Guard
  /** The index of the guard in its list. */
  index: number
  texts: readonly string[]
  phase: GuardPhase
  context: GuardContext
}

/**
 * Runs one guard, and never throws. A guard that cannot run rejects the texts, unless it is configured to fail open.
 */
export function decide(question: Question): Decision | Promise<Decision> {
  try {
    const verdict = question.guard.check(question.texts, question.phase, question.context)
    if (!(verdict instanceof Promise)) return settle(question, verdict)
    return verdict.then(
      (settled) => settle(question, settled),
      () => settle(question, BROKEN),
    )
  } catch {
    return settle(question, BROKEN)
  }
}

/** The rejection for clients when a guard could not run. */
export function failedClosed(reason: string): Rejection {
  return { kind: 'reject', status: 503, body: 'prompt guard failed', found: [], reason, isFailure: true }
}

// The thrown error is not used, because it may contain the text.
const BROKEN: Verdict = { kind: 'failed', reason: 'the guard broke' }

function settle({ guard, index, texts }: Question, verdict: Verdict): Decision {
  const who = { index, guard: guard.name }
  switch (verdict.kind) {
    case 'pass':
      return { verdict, note: { ...who, verdict: 'pass' } }
    case 'mask':
      if (verdict.texts.length === texts.length) {
        return { verdict, note: { ...who, verdict: 'mask', found: verdict.found } }
      }
      return settleFailed(guard, who, 'the masked texts are not as many as those that were sent')
    case 'reject': {
      const { found, reason } = verdict
      return { verdict, note: { ...who, verdict: 'reject', found, reason } }
    }
    case 'failed':
      return settleFailed(guard, who, verdict.reason)
  }
}

function settleFailed(guard: Guard, who: { index: number; guard: string }, reason: string): Decision {
  if (guard.failsOpen === true) return { verdict: PASS, note: { ...who, verdict: 'failedOpen', reason } }
  return { verdict: failedClosed(reason), note: { ...who, verdict: 'failed', reason } }
}
