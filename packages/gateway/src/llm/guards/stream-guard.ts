import type { GuardChain } from './chain.ts'
import { EventGuard } from './event-guard.ts'
import type { GuardContext, GuardNote } from './guard.ts'
import { GuardNotes } from './notes.ts'
import { TextPipe } from './text-pipe.ts'

/**
 * Guards an answer while it is streamed, each part by itself. Guards that mask by themselves hold what could be the
 * beginning of a match (`regex/window.ts`); guards that are asked get batches with an overlap (`batch-stage.ts`).
 */
export class StreamGuard extends EventGuard {
  readonly #notes: GuardNotes

  constructor(chain: GuardChain, context: Omit<GuardContext, 'about'>) {
    const notes = new GuardNotes(chain.guards)
    super((about) => new TextPipe(about, { chain, context, notes }))
    this.#notes = notes
  }

  /** One for each guard. */
  get notes(): readonly GuardNote[] {
    return this.#notes.all
  }
}
