/** Numbers that all workers of the process share, by stable key; they outlive reloads and workers. */
export interface SharedCounters {
  /** The same key gives the same words in every worker and generation; null when there is no room for another key. */
  cells(key: string): SharedCells | null
}

/** What is kept under one key. */
export interface SharedCells {
  /**
   * Its words, for one use: zeros at first, and changed by several threads at once, so through `Atomics` alone.
   * `now` is the time of `Env.monotonic`. Words left alone for a day may become another key's, so they are not kept.
   */
  use(now: number): BigInt64Array<SharedArrayBuffer>
}
