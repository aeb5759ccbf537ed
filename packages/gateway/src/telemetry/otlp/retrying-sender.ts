import type { Logger } from '../log/logger.ts'

/** An OTLP signal. */
export type Signal = 'logs' | 'metrics' | 'traces'

/** The result of a request to a collector. */
export type Delivery =
  /** Accepted; the collector rejected `rejected` of the items. */
  | { kind: 'taken'; rejected: number; message: string }
  /** To be retried; `afterMs` is the delay that the collector asked for. */
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

export interface RetryLimits {
  /** Pause after the first failure; it doubles with each further one. */
  firstPauseMs: number
  maxPauseMs: number
  /** The longest time that one request is retried. */
  retryMs: number
}

export interface SenderOptions {
  deliver: Deliver
  counts: ExportCounts
  limits: RetryLimits
  log: Logger
  /** The address of the collector, for the log. */
  to: string
}

/** Sends requests to a collector one after the other, each until it is accepted, refused or too old; counts and logs losses. */
export class RetryingSender {
  /** Replaced by every config generation, so that no older config is kept in memory. */
  deliver: Deliver
  readonly #options: SenderOptions
  #failures = 0
  /** Ends the pause between two attempts. */
  #endPause: (() => void) | null = null
  /** The time after which a shutdown stops retries; null before the shutdown. */
  #endsAt: number | null = null
  #toldAt = -Infinity
  #untold = 0

  constructor(options: SenderOptions) {
    this.#options = options
    this.deliver = options.deliver
  }

  /** Whether the process is about to end. */
  get isEnding(): boolean {
    return this.#endsAt !== null
  }

  /** From now on there is that much time, and no long pause. */
  hurry(timeoutMs: number): void {
    this.#endsAt = performance.now() + timeoutMs
    this.#endPause?.()
  }

  /** Sends a request with `count` items. */
  async send(request: Buffer, count: number): Promise<void> {
    const { limits, counts } = this.#options
    const endsAt = performance.now() + limits.retryMs
    for (;;) {
      const delivery = await this.#attempt(request)
      if (delivery.kind === 'refused') return this.drop(count, 'refused', delivery.cause)
      if (delivery.kind === 'taken') {
        counts.sent(count - delivery.rejected)
        if (delivery.rejected > 0) this.drop(delivery.rejected, 'rejected', delivery.message)
        return this.#recovered()
      }
      this.#failures++
      this.#tell(delivery.cause)
      if (!this.isEnding || this.#failures < 2) await this.#pause(delivery.afterMs)
      // A shutdown does not wait for a collector that was already unavailable: this was the last attempt.
      const isGivenUp = this.isEnding && this.#failures > 1
      if (!isGivenUp && performance.now() < (this.#endsAt ?? endsAt)) continue
      return this.drop(count, this.isEnding ? 'shutdown' : 'unreachable', delivery.cause)
    }
  }

  drop(count: number, reason: DropReason, cause: string): void {
    this.#options.counts.dropped(count, reason)
    this.#untold += count
    this.#tell(cause)
  }

  /** Attempts one delivery; an exception loses the batch, but not the worker. */
  async #attempt(request: Buffer): Promise<Delivery> {
    try {
      return await this.deliver(request)
    } catch (error) {
      return { kind: 'refused', cause: error instanceof Error ? error.message : String(error) }
    }
  }

  /** Waits for the delay that the collector asked for, within bounds, or for a growing backoff with jitter. */
  #pause(askedMs: number | null): Promise<void> {
    const { firstPauseMs, maxPauseMs, retryMs } = this.#options.limits
    const backoff = Math.min(maxPauseMs, firstPauseMs * 2 ** Math.min(this.#failures - 1, 16))
    const wanted = askedMs === null ? backoff * (0.75 + Math.random() / 2) : Math.min(askedMs, retryMs)
    const milliseconds = this.isEnding ? Math.min(wanted, LAST_PAUSE_MS) : wanted
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, milliseconds).unref()
      this.#endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #recovered(): void {
    if (this.#failures > 0) this.#options.log.info('telemetry is exported again', { to: this.#options.to })
    this.#failures = 0
  }

  /** Logs losses at once, and then at most every half minute. */
  #tell(cause: string): void {
    const now = performance.now()
    if (now < this.#toldAt + TELL_MS && !this.isEnding) return
    this.#toldAt = now
    const { log, to } = this.#options
    log.warn('telemetry is not exported', { to, cause: cause.slice(0, LONGEST_CAUSE), dropped: this.#untold })
    this.#untold = 0
  }
}

const TELL_MS = 30_000
const LONGEST_CAUSE = 256
const LAST_PAUSE_MS = 100
