import type { GuardChain } from './chain.ts'
import { EventGuard } from './event-guard.ts'
import type { GuardContext, GuardNote } from './guard.ts'
import { GuardNotes } from './notes.ts'
import { TextPipe } from './text-pipe.ts'

/**
 * Guards a response while it streams, each part by itself. Masking guards hold back text that could begin a match
 * (`regex/window.ts`); checking guards get batches with an overlap (`batch-stage.ts`).
 */
export class StreamGuard extends EventGuard {
  readonly #notes: GuardNotes

  constructor(chain: GuardChain, context: Omit<GuardContext, 'about'>) {
    const notes = new GuardNotes(chain.guards)
    super((about) => new TextPipe(about, { chain, context, notes }))
    this.#notes = notes
  }

  /** One note per guard. */
  get notes(): readonly GuardNote[] {
    return this.#notes.all
  }
}
