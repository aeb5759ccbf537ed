/** The store's side of the queue. */
interface QueueParts<Item> {
  /** Sends the items as one command; rejects when Redis may not have run it. */
  send(items: readonly Item[]): Promise<unknown>
  /** Called for each item that is lost. */
  lost(): void
}

/**
 * Costs that must reach Redis, however late: they are repeated until they do. The order does not matter. Costs of a few
 * milliseconds are sent together, because a command costs more than its contents.
 */
export class SettlementQueue<Item> {
  readonly #parts: QueueParts<Item>
  /** Items for the next command. */
  #fresh: Item[] = []
  /** Items whose command failed. */
  readonly #waiting: Item[] = []
  #underWay = 0
  #flushTimer: NodeJS.Timeout | null = null
  #repeatTimer: NodeJS.Timeout | null = null
  #whenEmpty: PromiseWithResolvers<void> | null = null

  constructor(parts: QueueParts<Item>) {
    this.#parts = parts
  }

  add(item: Item): void {
    this.#fresh.push(item)
    if (this.#fresh.length >= MOST_TOGETHER) this.#flush()
    else this.#flushTimer ??= setTimeout(() => this.#flush(), DELAY_MS)
  }

  /** Resolves when nothing waits any more. */
  settled(): Promise<void> {
    if (this.#isEmpty) return Promise.resolve()
    this.#whenEmpty ??= Promise.withResolvers<void>()
    return this.#whenEmpty.promise
  }

  /** Resolves when nothing waits any more, or after `ms`. Items that still wait then are lost. */
  async drain(ms: number): Promise<void> {
    this.#flush()
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, ms)
    await Promise.race([this.settled(), limit.promise])
    clearTimeout(timer)
    if (this.#flushTimer !== null) clearTimeout(this.#flushTimer)
    if (this.#repeatTimer !== null) clearTimeout(this.#repeatTimer)
    for (let left = this.#waiting.length + this.#fresh.length; left > 0; left--) this.#parts.lost()
    this.#waiting.length = this.#fresh.length = 0
  }

  get #isEmpty(): boolean {
    return this.#underWay === 0 && this.#waiting.length === 0 && this.#fresh.length === 0
  }

  #flush(): void {
    if (this.#flushTimer !== null) clearTimeout(this.#flushTimer)
    this.#flushTimer = null
    if (this.#fresh.length === 0) return
    const items = this.#fresh
    this.#fresh = []
    this.#send(items)
  }

  #send(items: readonly Item[]): void {
    this.#underWay += 1
    this.#parts.send(items).then(
      () => this.#ended(),
      () => {
        for (const item of items) this.#keep(item)
        this.#ended()
      },
    )
  }

  #keep(item: Item): void {
    if (this.#waiting.length >= MOST_WAITING) return this.#parts.lost()
    this.#waiting.push(item)
    this.#repeatTimer ??= setTimeout(() => this.#repeat(), REPEAT_MS)
  }

  /** Sends a portion; the rest waits until Redis has taken it. */
  #repeat(): void {
    this.#repeatTimer = null
    const portion = this.#waiting.splice(0, PORTION)
    for (let i = 0; i < portion.length; i += MOST_TOGETHER) this.#send(portion.slice(i, i + MOST_TOGETHER))
    if (this.#waiting.length > 0) this.#repeatTimer = setTimeout(() => this.#repeat(), REPEAT_MS)
  }

  #ended(): void {
    this.#underWay -= 1
    if (!this.#isEmpty) return
    this.#whenEmpty?.resolve()
    this.#whenEmpty = null
  }
}

/** Calls that end while Redis is away; each takes about 300 bytes. */
const MOST_WAITING = 20_000
const REPEAT_MS = 100
const PORTION = 512
/** The most items of one command, which Redis runs without a pause. */
const MOST_TOGETHER = 64
const DELAY_MS = 5
