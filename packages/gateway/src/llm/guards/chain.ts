import type { Guard, GuardContext, GuardNote, GuardPhase, Mask, Pass, Rejection, Verdict } from './guard.ts'
import { PASS } from './guard.ts'
import { nowOrLater } from './now-or-later.ts'
import { failedClosed } from './rejection.ts'

/** The guards of one phase, in the order of the config. */
export interface GuardChain {
  readonly phase: GuardPhase
  readonly guards: readonly Guard[]
  /**
   * Runs the guards in order; each guard sees the masks of the earlier guards. Synchronous as long as the guards are;
   * never throws.
   */
  run(texts: readonly string[], context: GuardContext): Outcome | Promise<Outcome>
}

export interface Outcome {
  verdict: Pass | Mask | Rejection
  /** One note per guard that ran. */
  notes: readonly GuardNote[]
}

export function chainOf(guards: readonly Guard[], phase: GuardPhase): GuardChain {
  return { phase, guards, run: (texts, context) => run(guards, phase, { texts, context }) }
}

function run(
  guards: readonly Guard[],
  phase: GuardPhase,
  given: { texts: readonly string[]; context: GuardContext },
): Outcome | Promise<Outcome> {
  const notes: GuardNote[] = []
  const found = new Set<string>()
  return runFrom(0, given.texts)

  function runFrom(index: number, texts: readonly string[]): Outcome | Promise<Outcome> {
    const guard = guards[index]
    if (guard === undefined) {
      return { verdict: texts === given.texts ? PASS : { kind: 'mask', texts, found: [...found] }, notes }
    }
    return nowOrLater(runGuard({ guard, index, texts, phase, context: given.context }), ({ verdict, note }) => {
      notes.push(note)
      if (verdict.kind === 'reject') return { verdict, notes }
      if (verdict.kind === 'pass') return runFrom(index + 1, texts)
      for (const kind of verdict.found) found.add(kind)
      return runFrom(index + 1, verdict.texts)
    })
  }
}

/** A final verdict, with its note for the trace. */
export interface Decision {
  verdict: Pass | Mask | Rejection
  note: GuardNote
}

export interface GuardRun {
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
export function runGuard(run: GuardRun): Decision | Promise<Decision> {
  try {
    const verdict = run.guard.check(run.texts, run.phase, run.context)
    if (!(verdict instanceof Promise)) return settle(run, verdict)
    return verdict.then(
      (settled) => settle(run, settled),
      () => settle(run, BROKEN),
    )
  } catch {
    return settle(run, BROKEN)
  }
}

// The thrown error is not used, because it may contain the text.
const BROKEN: Verdict = { kind: 'failed', reason: 'the guard broke' }

function settle({ guard, index, texts }: GuardRun, verdict: Verdict): Decision {
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
