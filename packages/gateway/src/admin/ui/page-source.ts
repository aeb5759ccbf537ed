import type { PageFiles } from './page-files.ts'

/** The state of the pages: a package has them, a checkout builds them when they are first opened. */
export type PageState =
  | { kind: 'ready'; files: PageFiles }
  | { kind: 'building'; seconds: number }
  /** `why` ends with what the build said last. */
  | { kind: 'failed'; why: string }
  | { kind: 'missing' }

export interface PageSource {
  /** Returns the state; a checkout without pages starts to build them. */
  open(): PageState
  /** Builds once more what could not be built. */
  again(): void
  close(): void
}

/** A gateway that comes without them. */
export const noPages: PageSource = { open: () => ({ kind: 'missing' }), again() {}, close() {} }
