import type { Rejection } from './guard.ts'
import type { Passage } from './passage.ts'

/** What one guard does to one text that is still coming. */
export interface Stage {
  push(text: string): Released | Promise<Released>
  /** The rest, once the text is over. Nothing follows. */
  end(): Released | Promise<Released>
}

/** What may go on, in order, or why nothing may any more. */
export type Released = readonly Passage[] | Rejection
