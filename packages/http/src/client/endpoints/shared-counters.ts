/** Numbers that all workers of the process share, by a stable key; they outlive reloads and workers. */
export interface SharedCounters {
  /**
   * Returns the same words for the same key in every worker and generation; null when there is no room for another key.
   */
  cells(key: string): SharedCells | null
}

/** The words of one key. */
export interface SharedCells {
  /**
   * Returns the key's words for a single use. They are zero at first, and several threads change them, so use only
   * `Atomics`. `now` is the time of `Env.monotonic`. Do not keep the array: words that are unused for a day may go to
   * another key.
   */
  use(now: number): BigInt64Array<SharedArrayBuffer>
}
