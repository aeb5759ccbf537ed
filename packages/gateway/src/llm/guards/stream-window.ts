import type { ChatEvent } from '../middle.ts'
import type { GuardChain } from './chain.ts'
import { EventGuard } from './event-guard.ts'
import type { GuardContext, GuardNote, Rejection } from './guard.ts'
import { GuardNotes } from './notes.ts'
import { TextPipe } from './text-pipe.ts'

/**
 * Guards an answer while it is streamed, each part by itself. Guards that mask by themselves hold what could be the
 * beginning of a match (`regex/window.ts`); guards that are asked get batches with an overlap (`batch-stage.ts`).
 */
export interface StreamGuard {
  /** Events that the client may see. A promise while a guard is asked: nothing may be pushed before it is settled. */
  push(events: readonly ChatEvent[]): ChatEvent[] | Promise<ChatEvent[]>
  /** Whatever still waits, when the stream ends without `finish` or `error`. */
  end(): ChatEvent[] | Promise<ChatEvent[]>
  /** Set once the answer was refused: its error event is out, and nothing follows. */
  readonly rejection: Rejection | null
  /** One for each guard. */
  readonly notes: readonly GuardNote[]
}

export function createStreamGuard(chain: GuardChain, context: Omit<GuardContext, 'about'>): StreamGuard {
  const notes = new GuardNotes(chain.guards)
  const guard = new EventGuard((about) => new TextPipe(about, { chain, context, notes }))
  return {
    push: (events) => guard.push(events),
    end: () => guard.end(),
    get rejection() {
      return guard.rejection
    },
    get notes() {
      return notes.all
    },
  }
}
