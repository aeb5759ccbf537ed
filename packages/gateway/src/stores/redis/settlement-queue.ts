import type { RedisReply } from './resp-reader.ts'

/** Commands that must reach Redis, however late: they are repeated until they do. The order does not matter. */
export class SettlementQueue {
  readonly #run: (command: readonly string[]) => Promise<RedisReply>
  readonly #lost: () => void
  readonly #waiting: (readonly string[])[] = []
  #underWay = 0
  #timer: NodeJS.Timeout | null = null
  #whenEmpty: PromiseWithResolvers<void> | null = null

  constructor(run: (command: readonly string[]) => Promise<RedisReply>, lost: () => void) {
    this.#run = run
    this.#lost = lost
  }

  add(command: readonly string[]): void {
    this.#underWay += 1
    this.#run(command).then(
      () => this.#ended(),
      () => {
        this.#keep(command)
        this.#ended()
      },
    )
  }

  /** Resolves when nothing waits any more. */
  settled(): Promise<void> {
    if (this.#isEmpty) return Promise.resolve()
    this.#whenEmpty ??= Promise.withResolvers<void>()
    return this.#whenEmpty.promise
  }

  /** Resolves when nothing waits any more, or after `ms`. Commands that still wait then are lost. */
  async drain(ms: number): Promise<void> {
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, ms)
    await Promise.race([this.settled(), limit.promise])
    clearTimeout(timer)
    if (this.#timer !== null) clearTimeout(this.#timer)
    for (let left = this.#waiting.length; left > 0; left--) this.#lost()
    this.#waiting.length = 0
  }

  get #isEmpty(): boolean {
    return this.#underWay === 0 && this.#waiting.length === 0
  }

  #keep(command: readonly string[]): void {
    if (this.#waiting.length >= MOST_WAITING) return this.#lost()
    this.#waiting.push(command)
    this.#timer ??= setTimeout(() => this.#repeat(), REPEAT_MS)
  }

  /** Sends a portion; the rest waits until Redis has taken it. */
  #repeat(): void {
    this.#timer = null
    for (const command of this.#waiting.splice(0, PORTION)) this.add(command)
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#repeat(), REPEAT_MS)
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
const PORTION = 500
