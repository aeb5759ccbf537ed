import { nowOrLater } from '../../pipeline/call/follow.ts'
import {
  type ExchangeContext,
  type Guard,
  type GuardContext,
  type GuardNote,
  type GuardPhase,
  type Mask,
  type Pass,
  type Rejection,
  type TextInfo,
  type TextMasker,
  type Verdict,
  PASS,
} from './guard.ts'
import { joinPassages, NOTHING, Origins, type Passage, verbatim } from './passage.ts'
import { failedClosed } from './rejection.ts'
import { batchStage } from './batch-stage.ts'
import type { Release, Stage, StageFactory } from './stage.ts'

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
interface Decision {
  verdict: Pass | Mask | Rejection
  note: GuardNote
}

interface GuardRun {
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
function runGuard(run: GuardRun): Decision | Promise<Decision> {
  try {
    const verdict = run.guard.check(run.texts, run.phase, run.context)
    if (!(verdict instanceof Promise)) return decide(run, verdict)
    return verdict.then(
      (checked) => decide(run, checked),
      () => decide(run, BROKEN),
    )
  } catch {
    return decide(run, BROKEN)
  }
}

// The thrown error is not used, because it may contain the text.
const BROKEN = { kind: 'failed', reason: 'the guard failed unexpectedly' } as const satisfies Verdict

function decide({ guard, index, texts }: GuardRun, verdict: Verdict): Decision {
  const who = { index, guard: guard.name }
  switch (verdict.kind) {
    case 'pass':
      return { verdict, note: { ...who, verdict: 'pass' } }
    case 'mask':
      if (verdict.texts.length === texts.length) {
        return { verdict, note: { ...who, verdict: 'mask', found: verdict.found } }
      }
      return decideFailed(guard, who, 'the number of masked texts differs from the number of texts sent')
    case 'reject': {
      const { found, reason } = verdict
      return { verdict, note: { ...who, verdict: 'reject', found, reason } }
    }
    case 'failed':
      return decideFailed(guard, who, verdict.reason, verdict.mask)
  }
}

function decideFailed(guard: Guard, who: { index: number; guard: string }, reason: string, mask?: Mask): Decision {
  if (guard.failsOpen === true) {
    const found = mask === undefined ? {} : { found: mask.found }
    return { verdict: mask ?? PASS, note: { ...who, verdict: 'failedOpen', ...found, reason } }
  }
  return { verdict: failedClosed(reason), note: { ...who, verdict: 'failed', reason } }
}

/** The texts of one streamed response: each text has its own pipe through all guards, and all share their notes. */
export class TextPipes implements StageFactory {
  readonly #chain: GuardChain
  readonly #context: ExchangeContext
  /** One note per guard, because a stream has many verdicts. */
  readonly #notes: GuardNote[]

  constructor(chain: GuardChain, context: ExchangeContext) {
    this.#chain = chain
    this.#context = context
    this.#notes = chain.guards.map(({ name }, index) => ({ index, guard: name, verdict: 'pass' }))
  }

  get notes(): readonly GuardNote[] {
    return this.#notes
  }

  /** Merges a note: keeps the more severe verdict, and all findings. */
  addNote(next: GuardNote): void {
    const last = this.#notes[next.index]
    if (last === undefined || next.verdict === 'pass') return
    const weightier = WEIGHT[next.verdict] >= WEIGHT[last.verdict] ? next : last
    const found = [...new Set([...(last.found ?? []), ...(next.found ?? [])])]
    this.#notes[next.index] = found.length === 0 ? weightier : { ...weightier, found }
  }

  create(about: TextInfo): Stage {
    return new TextPipe(this.#chain.guards.map((guard, index) => this.#stageOf(guard, index, about)))
  }

  /** Masking guards hold back text that could begin a match; checking guards get batches with an overlap. */
  #stageOf(guard: Guard, index: number, about: TextInfo): Stage {
    const masker = guard.createMasker?.(about)
    if (masker !== undefined) return maskerStage(masker, (note) => this.addNote({ index, guard: guard.name, ...note }))
    const { phase } = this.#chain
    const context = { ...this.#context, about: [about] }
    return batchStage((text) =>
      nowOrLater(runGuard({ guard, index, texts: [text], phase, context }), ({ verdict, note }) => {
        this.addNote(note)
        return verdict
      }),
    )
  }
}

/** One streamed text on its way through all guards. */
class TextPipe implements Stage {
  readonly #guards: readonly { stage: Stage; origins: Origins }[]

  constructor(stages: readonly Stage[]) {
    this.#guards = stages.map((stage) => ({ stage, origins: new Origins() }))
  }

  push(text: string): Release | Promise<Release> {
    return this.#pushFrom(0, verbatim(text))
  }

  end(): Release | Promise<Release> {
    return this.#endFrom(0, NOTHING)
  }

  #pushFrom(index: number, passages: readonly Passage[]): Release | Promise<Release> {
    const guard = this.#guards[index]
    if (guard === undefined || passages.length === 0) return passages
    guard.origins.add(passages)
    return nowOrLater(guard.stage.push(joinPassages(passages)), (released) =>
      'kind' in released ? released : this.#pushFrom(index + 1, traced(released, guard.origins)),
    )
  }

  /** Ends the guards in order: each guard gets the rest of the previous guard, then releases its own. */
  #endFrom(index: number, rest: readonly Passage[]): Release | Promise<Release> {
    const guard = this.#guards[index]
    if (guard === undefined) return rest
    const { stage, origins } = guard
    origins.add(rest)
    return nowOrLater(stage.push(joinPassages(rest)), (first) => {
      if ('kind' in first) return first
      return nowOrLater(stage.end(), (last) => {
        if ('kind' in last) return last
        return this.#endFrom(index + 1, [...traced([...first, ...last], origins), ...origins.rest()])
      })
    })
  }
}

function traced(passages: readonly Passage[], origins: Origins): Passage[] {
  return passages.flatMap((passage) => origins.take(passage))
}

/** A stage for guards that mask text as it streams. */
function maskerStage(masker: TextMasker, note: (note: Pick<GuardNote, 'verdict' | 'found' | 'reason'>) => void): Stage {
  return { push: (text) => release(() => masker.push(text)), end: () => release(() => masker.end()) }

  function release(take: () => readonly Passage[] | null): Release {
    const kinds = masker.found.size
    const masked = attempt(take)
    if ('kind' in masked) note({ verdict: 'failed', reason: masked.reason })
    else if (masker.found.size > kinds) note({ verdict: 'mask', found: [...masker.found] })
    return masked
  }
}

function attempt(take: () => readonly Passage[] | null): Release {
  try {
    return take() ?? failedClosed('a match is too long to be waited for')
  } catch {
    return failedClosed(BROKEN.reason)
  }
}

const WEIGHT: Readonly<Record<GuardNote['verdict'], number>> = { pass: 0, mask: 1, failedOpen: 2, reject: 3, failed: 3 }
