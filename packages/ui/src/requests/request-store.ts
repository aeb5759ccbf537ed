import type { ListedRequest } from '@portico/gateway/admin-api'

/** The rows of the table. Every change makes a new object. */
export interface RequestRows {
  /** Newest first. */
  readonly rows: readonly ListedRequest[]
  /** Requests added above since the list was read. The table scrolls by as many rows, so that rows in sight stay in place. */
  readonly added: number
  /** Requests that matched but were too many to be listed. */
  readonly omitted: number
  /** The cursor of the next page; null when no older request is recorded. */
  readonly next: string | null
}

/** The rows of one filter: pages of history below, live requests above. At most `MOST_ROWS`. */
export class RequestStore {
  #shown: RequestRows = NOTHING
  readonly #listeners = new Set<() => void>()

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly snapshot = (): RequestRows => this.#shown

  reset(): void {
    this.#set(NOTHING)
  }

  /** `append` takes a page of older requests, newest first. */
  append(page: readonly ListedRequest[], next: string | null): void {
    const { rows, added, omitted } = this.#shown
    const known = new Set(rows.map(({ id }) => id))
    const all = [...rows, ...page.filter(({ id }) => !known.has(id))]
    this.#set({ rows: all.slice(0, MOST_ROWS), added, omitted, next: all.length >= MOST_ROWS ? null : next })
  }

  /** `take` adds live requests, in the order in which they ended. */
  take(batch: readonly ListedRequest[], omitted: number): void {
    const { rows, added, next, omitted: before } = this.#shown
    // A request that a page of history already listed is among its newest.
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

  #set(shown: RequestRows): void {
    this.#shown = shown
    for (const listener of this.#listeners) listener()
  }
}

const NOTHING: RequestRows = { rows: [], added: 0, omitted: 0, next: null }
const MOST_OF_A_BATCH = 500
export const MOST_ROWS = 10_000
