import { batchStage } from './batch-stage.ts'
import { type GuardChain, runGuard } from '../chain.ts'
import type { ExchangeContext, Guard, GuardNote, TextInfo, TextMasker } from '../guard.ts'
import { nowOrLater } from '../now-or-later.ts'
import { NOTHING, Origins, type Passage, textOf, verbatim } from '../passage.ts'
import { failedClosed } from '../rejection.ts'
import type { Release, Stage, StageFactory } from './stage.ts'

/** The texts of one streamed response: each text has its own pipe through all guards, and all share their notes. */
export class TextPipes implements StageFactory {
  readonly #chain: GuardChain
  readonly #context: ExchangeContext
  readonly #notes: GuardNotes

  constructor(chain: GuardChain, context: ExchangeContext) {
    this.#chain = chain
    this.#context = context
    this.#notes = new GuardNotes(chain.guards)
  }

  /** One note per guard. */
  get notes(): readonly GuardNote[] {
    return this.#notes.all
  }

  addNote(note: GuardNote): void {
    this.#notes.add(note)
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
    return nowOrLater(guard.stage.push(textOf(passages)), (released) =>
      'kind' in released ? released : this.#pushFrom(index + 1, traced(released, guard.origins)),
    )
  }

  /** Ends the guards in order: each guard gets the rest of the previous guard, then releases its own. */
  #endFrom(index: number, rest: readonly Passage[]): Release | Promise<Release> {
    const guard = this.#guards[index]
    if (guard === undefined) return rest
    const { stage, origins } = guard
    origins.add(rest)
    return nowOrLater(stage.push(textOf(rest)), (first) => {
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
    // The thrown error is not used, because it may contain the text.
    return failedClosed('the guard broke')
  }
}

/** The notes of a stream, one per guard, because a stream has many verdicts. */
class GuardNotes {
  readonly #notes: GuardNote[]

  constructor(guards: readonly Guard[]) {
    this.#notes = guards.map(({ name }, index) => ({ index, guard: name, verdict: 'pass' }))
  }

  get all(): readonly GuardNote[] {
    return this.#notes
  }

  /** Merges a note: keeps the more severe verdict, and all findings. */
  add(next: GuardNote): void {
    const last = this.#notes[next.index]
    if (last === undefined || next.verdict === 'pass') return
    const weightier = WEIGHT[next.verdict] >= WEIGHT[last.verdict] ? next : last
    const found = [...new Set([...(last.found ?? []), ...(next.found ?? [])])]
    this.#notes[next.index] = found.length === 0 ? weightier : { ...weightier, found }
  }
}

const WEIGHT: Readonly<Record<GuardNote['verdict'], number>> = { pass: 0, mask: 1, failedOpen: 2, reject: 3, failed: 3 }
