/** What a change of a Gateway sets in motion is done within this time, usually: data planes answer, addresses are given. */
const GRACE_MS = 2_000

/** How long to keep quiet about a Gateway of which the newest generation is still on its way. */
export class Grace {
  readonly #sinceByKey = new Map<string, { generation: number; at: number }>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Whether it is too early to speak of this generation; the time runs from the first call. */
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
