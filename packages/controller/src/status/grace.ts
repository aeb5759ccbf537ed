/** The usual time for a change of a Gateway: data planes acknowledge, addresses are assigned. */
const GRACE_MS = 2_000

/**
 * The grace period during which the status of a Gateway is not updated, while its newest generation is still being
 * applied.
 */
export class Grace {
  readonly #sinceByKey = new Map<string, { generation: number; at: number }>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether it is too early to report this generation; the period starts with the first call. */
  holds(key: string, generation: number): boolean {
    const now = this.#now()
    let since = this.#sinceByKey.get(key)
    if (since?.generation !== generation) this.#sinceByKey.set(key, (since = { generation, at: now }))
    return now - since.at < GRACE_MS
  }

  forget(key: string): void {
    this.#sinceByKey.delete(key)
  }
}
