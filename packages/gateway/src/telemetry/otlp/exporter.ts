import { type Deliver, RetryingSender, type RetryLimits, type SenderOptions } from './retrying-sender.ts'

export interface ExportLimits extends RetryLimits {
  /** What a request has at most; that much is sent at once. */
  batchItems: number
  batchBytes: number
  /** How long the first of fewer waits for others. */
  delayMs: number
  /** What waits at most; more is dropped. */
  queueItems: number
  queueBytes: number
}

/** Per worker. */
export const exportLimits: ExportLimits = {
  batchItems: 2048,
  batchBytes: 1024 * 1024,
  delayMs: 1000,
  queueItems: 16_384,
  queueBytes: 8 * 1024 * 1024,
  firstPauseMs: 500,
  maxPauseMs: 30_000,
  retryMs: 60_000,
}

export interface ExporterOptions extends SenderOptions {
  wrap: (items: readonly Buffer[]) => Buffer
  limits: ExportLimits
  /** Those with something to send: who shuts down asks them to hurry. */
  busy: Set<Exporter>
}

/**
 * Sends items of one kind in batches, one request at a time. It never makes anybody wait: what does not fit into its
 * queue is dropped and counted. While it has something to send, a timer or a request under way holds it, so that one
 * that a reload has left behind still sends the rest.
 */
export class Exporter {
  readonly #options: ExporterOptions
  readonly #sender: RetryingSender
  #items: Buffer[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | null = null
  #sending: Promise<void> | null = null
  /** Items of the request under way. */
  #underWay = 0

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#sender = new RetryingSender(options)
  }

  /** The way to the collector that the newest generation has. */
  set deliver(deliver: Deliver) {
    this.#sender.deliver = deliver
  }

  add(item: Buffer): void {
    const { limits, busy } = this.#options
    if (this.#items.length >= limits.queueItems || this.#bytes + item.length > limits.queueBytes) {
      return this.#sender.drop(1, 'queue_full', 'the queue is full')
    }
    if (this.#items.length === 0) busy.add(this)
    this.#items.push(item)
    this.#bytes += item.length
    if (this.#sending === null) this.#sendSoon()
  }

  /** Sends what there is without waiting for more; what is left after that time is dropped. */
  async flush(timeoutMs: number): Promise<void> {
    this.#sender.hurry(timeoutMs)
    if (this.#sending === null && this.#items.length === 0) return
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, timeoutMs)
    await Promise.race([this.#sending ?? this.#send(), limit.promise])
    clearTimeout(timer)
    const left = this.#items.length + this.#underWay
    if (left > 0) this.#sender.drop(left, 'shutdown', 'the gateway ends')
  }

  #sendSoon(): void {
    const { limits } = this.#options
    const isFull = this.#items.length >= limits.batchItems || this.#bytes >= limits.batchBytes
    if (isFull || this.#sender.isEnding) void this.#send()
    else this.#timer ??= setTimeout(() => void this.#send(), limits.delayMs).unref()
  }

  /** With something to send. */
  #send(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    return (this.#sending = this.#sendAll())
  }

  async #sendAll(): Promise<void> {
    const { limits } = this.#options
    do {
      const items = this.#cut()
      this.#underWay = items.length
      await this.#sender.send(this.#options.wrap(items), items.length)
      this.#underWay = 0
    } while (this.#sender.isEnding ? this.#items.length > 0 : this.#items.length >= limits.batchItems)
    this.#sending = null
    if (this.#items.length > 0) this.#sendSoon()
    else this.#options.busy.delete(this)
  }

  /** Items for one request: at least one, where there is any. */
  #cut(): Buffer[] {
    const { limits } = this.#options
    let count = 0
    let bytes = 0
    for (const { length } of this.#items) {
      if (count > 0 && (count >= limits.batchItems || bytes + length > limits.batchBytes)) break
      count++
      bytes += length
    }
    this.#bytes -= bytes
    return this.#items.splice(0, count)
  }
}
