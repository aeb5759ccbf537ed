import { batchStage } from './batch-stage.ts'
import type { GuardChain } from './chain.ts'
import { decide } from './decide.ts'
import type { GuardContext, TextInfo } from './guard.ts'
import { maskerStage } from './masker-stage.ts'
import type { GuardNotes } from './notes.ts'
import { nowOrLater } from './now-or-later.ts'
import type { Released, Stage } from './stage.ts'

export interface PipeOptions {
  chain: GuardChain
  context: Omit<GuardContext, 'about'>
  notes: GuardNotes
}

/** One text that is still coming, on its way through all guards. */
export function textPipe(about: TextInfo, { chain, context, notes }: PipeOptions): Stage {
  const stages = chain.guards.map((guard, index): Stage => {
    const masker = guard.createMasker?.(about)
    if (masker !== undefined) return maskerStage(masker, (note) => notes.add({ index, guard: guard.name, ...note }))
    return batchStage((text) => {
      const question = { guard, index, texts: [text], phase: chain.phase, context: { ...context, about: [about] } }
      return nowOrLater(decide(question), ({ verdict, note }) => {
        notes.add(note)
        return verdict
      })
    })
  })
  return { push: (text) => pushFrom(0, text), end: () => endFrom(0, '') }

  function pushFrom(index: number, text: string): Released | Promise<Released> {
    const stage = stages[index]
    if (stage === undefined || text === '') return text
    return nowOrLater(stage.push(text), (released) =>
      typeof released === 'string' ? pushFrom(index + 1, released) : released,
    )
  }

  /** Each guard gets the rest of the one before, then gives its own. */
  function endFrom(index: number, rest: string): Released | Promise<Released> {
    const stage = stages[index]
    if (stage === undefined) return rest
    return nowOrLater(stage.push(rest), (first) => {
      if (typeof first !== 'string') return first
      return nowOrLater(stage.end(), (last) => (typeof last === 'string' ? endFrom(index + 1, first + last) : last))
    })
  }
}
