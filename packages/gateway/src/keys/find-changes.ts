import type { AuditEntry, KeyStore, NumberedAuditEntry } from '../stores/key-store.ts'

/** A question for changes, the newest first. All conditions must hold. */
export interface ChangeSearch {
  /** Entries with smaller ids. */
  readonly before: number
  readonly limit: number
  readonly kind: AuditEntry['kind'] | null
  /** The name of the key or team that was changed. */
  readonly name: string | null
}

/** A page of the changes that were found. */
export interface FoundChanges {
  readonly entries: readonly NumberedAuditEntry[]
  /** The id before which the search goes on; null at the end. */
  readonly next: number | null
}

/** Reads changes until the page is full. One call reads a bounded number of them, so its page may have fewer, or none. */
export async function findChanges(store: KeyStore, search: ChangeSearch): Promise<FoundChanges> {
  const { limit, kind, name } = search
  const isAll = kind === null && name === null
  const entries: NumberedAuditEntry[] = []
  let { before } = search
  for (let seen = 0; seen < MOST_READ;) {
    // One more entry says whether there is another page.
    const most = isAll ? limit - entries.length + 1 : READ_AT_ONCE
    const page = await store.audit(before, most)
    for (const entry of page) {
      if (entries.length === limit) return { entries, next: before }
      if ((kind === null || entry.kind === kind) && (name === null || entry.name === name)) entries.push(entry)
      before = entry.id
    }
    if (page.length < most) return { entries, next: null }
    seen += page.length
  }
  return { entries, next: before }
}

const READ_AT_ONCE = 1_000
/** The thread of the store does nothing else meanwhile. */
const MOST_READ = 20_000
