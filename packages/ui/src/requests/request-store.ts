import type { ListedRequest } from '@portico/gateway/admin-api'

/** What the table shows. A new object each time that something changes. */
export interface Shown {
  /** Newest first. */
  readonly rows: readonly ListedRequest[]
  /** How many came in above since the list was begun: who has scrolled down stays where they were. */
  readonly added: number
  /** Matched while it was live, and were too many to be shown. */
  readonly omitted: number
  /** For the next page; null where nothing older is kept. */
  readonly next: string | null
}

/** The rows of one filter: pages of history below, what happens now above. Bounded. */
export class RequestStore {
  #shown: Shown = NOTHING
  readonly #listeners = new Set<() => void>()

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly snapshot = (): Shown => this.#shown

  reset(): void {
    this.#set(NOTHING)
  }

  /** Newest first, and older than all that is there. */
  append(page: readonly ListedRequest[], next: string | null): void {
    const { rows, added, omitted } = this.#shown
    const known = new Set(rows.map(({ id }) => id))
    const all = [...rows, ...page.filter(({ id }) => !known.has(id))]
    this.#set({ rows: all.slice(0, MOST_ROWS), added, omitted, next: all.length >= MOST_ROWS ? null : next })
  }

  /** Oldest first, as they happened; requests end in another order than they began. */
  take(batch: readonly ListedRequest[], omitted: number): void {
    const { rows, added, next, omitted: before } = this.#shown
    // What a page of history has brought already is among the newest of it.
    const known = new Set(rows.slice(0, 4 * MOST_OF_A_BATCH).map(({ id }) => id))
    const fresh = batch.filter(({ id }) => !known.has(id)).toReversed()
    if (fresh.length === 0 && omitted === 0) return
    this.#set({
      rows: [...fresh, ...rows].slice(0, MOST_ROWS),
      added: added + fresh.length,
      omitted: before + omitted,
      next,
    })
  }

  #set(shown: Shown): void {
    this.#shown = shown
    for (const listener of this.#listeners) listener()
  }
}

const NOTHING: Shown = { rows: [], added: 0, omitted: 0, next: null }
const MOST_OF_A_BATCH = 500
export const MOST_ROWS = 10_000
