import type { GuardNote, Rejection, TextInfo } from './guard.ts'
import type { Passage } from './passage.ts'

/** One guard at work on one streamed text. */
export interface Stage {
  push(text: string): Release | Promise<Release>
  /** Releases the rest at the end of the text. No call follows. */
  end(): Release | Promise<Release>
}

/** The passages to release, in order, or the rejection that ends the text. */
export type Release = readonly Passage[] | Rejection

/** Creates a stage for each text of a response. */
export interface StageFactory {
  create(about: TextInfo): Stage
  /** The notes of the guards that the stages have run. */
  readonly notes: readonly GuardNote[]
}
