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
  #fresh: QueuedItem<Item>[] = []
  /** Items whose command failed. */
  readonly #waiting: QueuedItem<Item>[] = []
  #mark = 0
  /** The number of items since each mark that Redis does not have yet. */
  readonly #openByMark = new Map<number, number>()
  #underWay = 0
  #flushTimer: NodeJS.Timeout | null = null
  #repeatTimer: NodeJS.Timeout | null = null
  #whenEmpty: PromiseWithResolvers<void> | null = null

  constructor(parts: QueueParts<Item>) {
    this.#parts = parts
  }

  /** Adds an item, which is sent once the caller has returned. */
  add(item: Item): void {
    this.#fresh.push({ item, mark: this.#mark })
    this.#openByMark.set(this.#mark, (this.#openByMark.get(this.#mark) ?? 0) + 1)
    if (this.#fresh.length === MOST_TOGETHER) queueMicrotask(() => this.#flush())
    else this.#flushTimer ??= setTimeout(() => this.#flush(), DELAY_MS)
  }

  /** Returns a mark of the items so far, for `has`. */
  mark(): number {
    return this.#mark++
  }

  /** Whether Redis has all items up to the mark, apart from those that are lost. */
  has(mark: number): boolean {
    // The marks of a map are in the order of their first items.
    for (const [first] of this.#openByMark) return first > mark
    return true
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
    for (const queued of [...this.#waiting, ...this.#fresh]) this.#lose(queued)
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
    for (let i = 0; i < items.length; i += MOST_TOGETHER) this.#send(items.slice(i, i + MOST_TOGETHER))
  }

  #send(items: readonly QueuedItem<Item>[]): void {
    this.#underWay += 1
    this.#parts.send(items.map(({ item }) => item)).then(
      () => {
        for (const queued of items) this.#close(queued)
        this.#ended()
      },
      () => {
        for (const queued of items) this.#keep(queued)
        this.#ended()
      },
    )
  }

  #lose(queued: QueuedItem<Item>): void {
    this.#close(queued)
    this.#parts.lost()
  }

  /** Nothing more happens with the item. */
  #close({ mark }: QueuedItem<Item>): void {
    const left = (this.#openByMark.get(mark) ?? 0) - 1
    if (left > 0) this.#openByMark.set(mark, left)
    else this.#openByMark.delete(mark)
  }

  #keep(queued: QueuedItem<Item>): void {
    if (this.#waiting.length >= MOST_WAITING) return this.#lose(queued)
    this.#waiting.push(queued)
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

/** An item with the number of marks before it. */
interface QueuedItem<Item> {
  readonly item: Item
  readonly mark: number
}

/** Calls that end while Redis is away; each takes about 300 bytes. */
const MOST_WAITING = 20_000
const REPEAT_MS = 100
const PORTION = 512
/** The most items of one command, which Redis runs without a pause. */
const MOST_TOGETHER = 64
const DELAY_MS = 5
