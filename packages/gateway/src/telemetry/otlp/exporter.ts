import type { Logger } from '../log/logger.ts'

/** What became of a request to a collector. */
export type Delivery =
  /** `rejected` items of it were not kept. */
  | { kind: 'taken'; rejected: number; message: string }
  /** It may be sent again, after that many milliseconds where the collector said so. */
  | { kind: 'later'; cause: string; afterMs: number | null }
  | { kind: 'refused'; cause: string }

/** Sends one request. */
export type Deliver = (request: Buffer) => Promise<Delivery>

export const dropReasons = ['queue_full', 'unreachable', 'refused', 'rejected', 'shutdown'] as const
export type DropReason = (typeof dropReasons)[number]

export interface ExportCounts {
  sent(count: number): void
  dropped(count: number, reason: DropReason): void
}

export interface ExportLimits {
  /** What a request has at most; that much is sent at once. */
  batchItems: number
  batchBytes: number
  /** How long the first of fewer waits for others. */
  delayMs: number
  /** What waits at most; more is dropped. */
  queueItems: number
  queueBytes: number
  /** Pause after the first failure; it doubles with each further one. */
  firstPauseMs: number
  maxPauseMs: number
  /** How long one request is tried. */
  retryMs: number
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

export interface ExporterOptions {
  wrap: (items: readonly Buffer[]) => Buffer
  deliver: Deliver
  counts: ExportCounts
  limits: ExportLimits
  log: Logger
  /** Where to, for the log. */
  to: string
  /** Those with something to send: who shuts down asks them to hurry. */
  busy: Set<Exporter>
}

/**
 * Sends items of one kind in batches, one request at a time. It never makes anybody wait: what does not fit into its
 * queue is dropped and counted. While it has something to send, a timer or a request under way holds it, so that one
 * that a reload has left behind still sends the rest.
 */
export class Exporter {
  /** Belongs to the newest generation that exports there: an older one would keep all of its config. */
  deliver: Deliver
  readonly #options: ExporterOptions
  #items: Buffer[] = []
  #bytes = 0
  #timer: NodeJS.Timeout | null = null
  #sending: Promise<void> | null = null
  /** Items of the request under way. */
  #underWay = 0
  #failures = 0
  /** Ends the pause between two tries. */
  #hurry: (() => void) | null = null
  /** Set once the process ends; time after which nothing is tried again. */
  #endsAt: number | null = null
  #toldAt = -Infinity
  #untold = 0

  constructor(options: ExporterOptions) {
    this.#options = options
    this.deliver = options.deliver
  }

  add(item: Buffer): void {
    const { limits, busy } = this.#options
    if (this.#items.length >= limits.queueItems || this.#bytes + item.length > limits.queueBytes) {
      return this.#drop(1, 'queue_full', 'the queue is full')
    }
    if (this.#items.length === 0) busy.add(this)
    this.#items.push(item)
    this.#bytes += item.length
    if (this.#sending === null) this.#sendSoon()
  }

  /** Sends what there is without waiting for more; what is left after that time is dropped. */
  async flush(timeoutMs: number): Promise<void> {
    this.#endsAt = performance.now() + timeoutMs
    this.#hurry?.()
    if (this.#sending === null && this.#items.length === 0) return
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, timeoutMs)
    await Promise.race([this.#sending ?? this.#send(), limit.promise])
    clearTimeout(timer)
    const left = this.#items.length + this.#underWay
    if (left > 0) this.#drop(left, 'shutdown', 'the gateway ends')
  }

  #sendSoon(): void {
    const { limits } = this.#options
    const isFull = this.#items.length >= limits.batchItems || this.#bytes >= limits.batchBytes
    if (isFull || this.#endsAt !== null) void this.#send()
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
      await this.#deliver(this.#options.wrap(items), items.length)
      this.#underWay = 0
    } while (this.#endsAt === null ? this.#items.length >= limits.batchItems : this.#items.length > 0)
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

  async #deliver(request: Buffer, count: number): Promise<void> {
    const { limits, counts } = this.#options
    const endsAt = performance.now() + limits.retryMs
    for (;;) {
      const delivery = await this.#attempt(request)
      if (delivery.kind === 'refused') return this.#drop(count, 'refused', delivery.cause)
      if (delivery.kind === 'taken') {
        counts.sent(count - delivery.rejected)
        if (delivery.rejected > 0) this.#drop(delivery.rejected, 'rejected', delivery.message)
        return this.#recovered()
      }
      this.#failures++
      this.#tell(delivery.cause)
      await this.#pause(delivery.afterMs)
      const now = performance.now()
      if (now >= (this.#endsAt ?? endsAt)) {
        return this.#drop(count, this.#endsAt === null ? 'unreachable' : 'shutdown', delivery.cause)
      }
    }
  }

  /** A bug on the way there costs the batch, and not the worker. */
  async #attempt(request: Buffer): Promise<Delivery> {
    try {
      return await this.deliver(request)
    } catch (error) {
      return { kind: 'refused', cause: error instanceof Error ? error.message : String(error) }
    }
  }

  /** What the collector asks for, within bounds, or longer with each failure; workers do not come back all at once. */
  #pause(askedMs: number | null): Promise<void> {
    const { firstPauseMs, maxPauseMs, retryMs } = this.#options.limits
    const backoff = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(this.#failures - 1, 16))
    const wanted = askedMs === null ? backoff * (0.75 + Math.random() / 2) : Math.min(askedMs, retryMs)
    const milliseconds = this.#endsAt === null ? wanted : Math.min(wanted, FLUSH_PAUSE_MS)
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds).unref()
      this.#hurry = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #recovered(): void {
    if (this.#failures > 0) this.#options.log.info('telemetry is exported again', { to: this.#options.to })
    this.#failures = 0
  }

  #drop(count: number, reason: DropReason, cause: string): void {
    this.#options.counts.dropped(count, reason)
    this.#untold += count
    this.#tell(cause)
  }

  /** At once, and then at most every half minute. */
  #tell(cause: string): void {
    const now = performance.now()
    if (now < this.#toldAt + TELL_MS && this.#endsAt === null) return
    this.#toldAt = now
    const { log, to } = this.#options
    log.warn('telemetry is not exported', { to, cause: cause.slice(0, LONGEST_CAUSE), dropped: this.#untold })
    this.#untold = 0
  }
}

const TELL_MS = 30_000
const LONGEST_CAUSE = 256
const FLUSH_PAUSE_MS = 100
