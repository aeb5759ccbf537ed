import { join } from 'node:path'

/**
 * The files of journals in the state folder. The name of a journal has the process that writes it, which holds a lock
 * as long as it lives, and the number of the worker. Each journal has two halves, which take turns.
 */
export interface JournalName {
  /** A random name of the process, because containers that share a folder may have the same process ids. */
  readonly instance: string
  readonly worker: number
}

export type JournalHalf = 'a' | 'b'

/** Returns the text that names a journal in the file of budgets. */
export function journalKey({ instance, worker }: JournalName): string {
  return `${instance}-${worker}`
}

export function journalPath(folder: string, name: JournalName, half: JournalHalf): string {
  return join(folder, `ledger-${journalKey(name)}${half}.journal`)
}

export function lockPath(folder: string, instance: string): string {
  return join(folder, `ledger-${instance}.lock`)
}

/** Returns the journal that a file belongs to; null for any other file. */
export function journalOf(fileName: string): JournalName | null {
  const [, instance, worker] = JOURNAL.exec(fileName) ?? []
  return instance === undefined ? null : { instance, worker: Number(worker) }
}

/** Returns the process of a lock file; null for any other file. */
export function lockOf(fileName: string): string | null {
  return LOCK.exec(fileName)?.[1] ?? null
}

const JOURNAL = /^ledger-([0-9a-f]{16})-([0-9]{1,9})[ab]\.journal$/
const LOCK = /^ledger-([0-9a-f]{16})\.lock$/

/** The most bytes of both halves of a journal together. */
export const MOST_JOURNAL_BYTES = 16 * 1024 * 1024
