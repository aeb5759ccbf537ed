import type { UnexaminedKind } from '../request-texts.ts'
import { decide } from './decide.ts'
import type { Guard, GuardContext, GuardNote, GuardPhase, Mask, Pass, Rejection } from './guard.ts'
import { PASS } from './guard.ts'
import { nowOrLater } from './now-or-later.ts'

/** The guards of one phase, in the order of the config. */
export interface GuardChain {
  readonly phase: GuardPhase
  readonly guards: readonly Guard[]
  /** Whether a request with something of this kind, which no guard can examine, must not go on. */
  refuses(kind: UnexaminedKind): boolean
  /** Each guard sees what those before it have masked. Stays synchronous as long as the guards do; never throws. */
  run(texts: readonly string[], context: GuardContext): Outcome | Promise<Outcome>
}

export interface Outcome {
  verdict: Pass | Mask | Rejection
  /** One for each guard that was asked. */
  notes: readonly GuardNote[]
}

export function chainOf(
  guards: readonly Guard[],
  phase: GuardPhase,
  allowUnexamined: readonly UnexaminedKind[] = [],
): GuardChain {
  const canReject = guards.some(({ masksOnly }) => masksOnly !== true)
  // A block of an unknown type may hold anything, so even masks cannot be trusted to be in the right place.
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
