import type { UnexaminedKind } from '../request-texts.ts'
import { decide } from './decide.ts'
import type { Guard, GuardContext, GuardNote, GuardPhase, Mask, Pass, Rejection } from './guard.ts'
import { PASS } from './guard.ts'
import { nowOrLater } from './now-or-later.ts'

/** The guards of one phase, in the order of the config. */
export interface GuardChain {
  readonly phase: GuardPhase
  readonly guards: readonly Guard[]
  /** Whether a request with content of this kind, which no guard can examine, is refused. */
  refuses(kind: UnexaminedKind): boolean
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

export function chainOf(
  guards: readonly Guard[],
  phase: GuardPhase,
  allowUnexamined: readonly UnexaminedKind[] = [],
): GuardChain {
  const canReject = guards.some(({ masksOnly }) => masksOnly !== true)
  // A block of an unknown type may contain anything, so even masks may be in the wrong location.
  const refuses = (kind: UnexaminedKind): boolean =>
    (canReject || kind === 'Unknown') && !allowUnexamined.includes(kind)
  return { phase, guards, refuses, run: (texts, context) => run(guards, phase, { texts, context }) }
}

function run(
  guards: readonly Guard[],
  phase: GuardPhase,
  given: { texts: readonly string[]; context: GuardContext },
): Outcome | Promise<Outcome> {
  const notes: GuardNote[] = []
  const found = new Set<string>()
  return ask(0, given.texts)

  function ask(index: number, texts: readonly string[]): Outcome | Promise<Outcome> {
    const guard = guards[index]
    if (guard === undefined) {
      return { verdict: texts === given.texts ? PASS : { kind: 'mask', texts, found: [...found] }, notes }
    }
    return nowOrLater(decide({ guard, index, texts, phase, context: given.context }), ({ verdict, note }) => {
      notes.push(note)
      if (verdict.kind === 'reject') return { verdict, notes }
      if (verdict.kind === 'pass') return ask(index + 1, texts)
      for (const kind of verdict.found) found.add(kind)
      return ask(index + 1, verdict.texts)
    })
  }
}
