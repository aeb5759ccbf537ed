import { batchStage } from './batch-stage.ts'
import type { GuardChain } from './chain.ts'
import { decide, failedClosed } from './decide.ts'
import type { Guard, GuardContext, GuardNote, TextInfo, TextMasker } from './guard.ts'
import type { GuardNotes } from './notes.ts'
import { nowOrLater } from './now-or-later.ts'
import { NOTHING, Origins, type Passage, textOf, verbatim } from './passage.ts'
import type { Released, Stage } from './stage.ts'

export interface PipeOptions {
  chain: GuardChain
  context: Omit<GuardContext, 'about'>
  notes: GuardNotes
}

/** One streamed text on its way through all guards. */
export class TextPipe implements Stage {
  readonly #guards: readonly { stage: Stage; origins: Origins }[]

  constructor(about: TextInfo, options: PipeOptions) {
    this.#guards = options.chain.guards.map((guard, index) => ({
      stage: stageOf(guard, index, { about, ...options }),
      origins: new Origins(),
    }))
  }

  push(text: string): Released | Promise<Released> {
    return this.#pushFrom(0, verbatim(text))
  }

  end(): Released | Promise<Released> {
    return this.#endFrom(0, NOTHING)
  }

  #pushFrom(index: number, passages: readonly Passage[]): Released | Promise<Released> {
    const guard = this.#guards[index]
    if (guard === undefined || passages.length === 0) return passages
    guard.origins.add(passages)
    return nowOrLater(guard.stage.push(textOf(passages)), (released) =>
      'kind' in released ? released : this.#pushFrom(index + 1, traced(released, guard.origins)),
    )
  }

  /** Ends the guards in order: each guard gets the rest of the previous guard, then releases its own. */
  #endFrom(index: number, rest: readonly Passage[]): Released | Promise<Released> {
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

function stageOf(guard: Guard, index: number, options: PipeOptions & { about: TextInfo }): Stage {
  const { about, chain, context, notes } = options
  const masker = guard.createMasker?.(about)
  if (masker !== undefined) return maskerStage(masker, (note) => notes.add({ index, guard: guard.name, ...note }))
  return batchStage((text) => {
    const question = { guard, index, texts: [text], phase: chain.phase, context: { ...context, about: [about] } }
    return nowOrLater(decide(question), ({ verdict, note }) => {
      notes.add(note)
      return verdict
    })
  })
}

/** A stage for guards that mask text as it streams. */
function maskerStage(masker: TextMasker, note: (note: Pick<GuardNote, 'verdict' | 'found' | 'reason'>) => void): Stage {
  return { push: (text) => release(() => masker.push(text)), end: () => release(() => masker.end()) }

  function release(take: () => readonly Passage[] | null): Released {
    const kinds = masker.found.size
    const masked = attempt(take)
    if ('kind' in masked) note({ verdict: 'failed', reason: masked.reason })
    else if (masker.found.size > kinds) note({ verdict: 'mask', found: [...masker.found] })
    return masked
  }
}

function attempt(take: () => readonly Passage[] | null): Released {
  try {
    return take() ?? failedClosed('a match is too long to be waited for')
  } catch {
    // The thrown error is not used, because it may contain the text.
    return failedClosed('the guard broke')
  }
}
