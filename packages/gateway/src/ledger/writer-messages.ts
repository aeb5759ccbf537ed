import type { PostgresSettings } from '../stores/postgres/postgres-settings.ts'
import type { UsageQuery, UsageResult } from '../stores/store.ts'
import type { EntryCounts, WriterEvent } from './ledger-writer.ts'

/** The settings of the writer thread. */
export interface WriterSettings {
  /** The state folder, an absolute path. */
  readonly folder: string
  readonly retentionMs: number
  readonly rollupRetentionMs: number
  /** The database of the ledger; null for the file in the state folder. */
  readonly postgres: PostgresSettings | null
}

export type ToWriter =
  /** `entries` is the JSON text of a list; the main thread keeps it until the writer confirms `serial`. */
  | { readonly type: 'add'; readonly serial: number; readonly entries: string }
  | { readonly type: 'usage'; readonly id: number; readonly query: UsageQuery }
  /** Stores the entries of the journal of a worker that has ended. */
  | { readonly type: 'recover'; readonly file: string }
  /** Ends the thread after everything before it. */
  | { readonly type: 'close' }

export interface WriterState {
  readonly counts: EntryCounts
  /** Why the store cannot be used; null while it works. */
  readonly problem: string | null
}

export type FromWriter =
  | ({ readonly type: 'added'; readonly serial: number } & WriterState)
  | ({ readonly type: 'maintained' } & WriterState)
  | ({ readonly type: 'recovered'; readonly file: string } & WriterState)
  | { readonly type: 'usage'; readonly id: number; readonly result: UsageResult | { readonly problem: string } }
  | { readonly type: 'event'; readonly event: WriterEvent }
