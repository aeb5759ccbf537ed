import type { LedgerBatch } from './ledger-feed.ts'

/** The settings of the journals of workers. */
export interface JournalSettings {
  /** The state folder, an absolute path. */
  readonly folder: string
  /** The random name of this process. */
  readonly instance: string
}

/** The messages of workers to the ledger: `journal` comes once, before the first batch. */
export type LedgerMessage = LedgerBatch | { readonly type: 'journal'; readonly control: SharedArrayBuffer }
