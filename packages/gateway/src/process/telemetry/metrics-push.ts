import { exportOrigin } from './export-origin.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import type { Collector } from '../../telemetry/metrics/metrics-collect.ts'
import { createEnvelope, ITEM } from '../../telemetry/otlp/envelope.ts'
import { exportLimits } from '../../telemetry/otlp/export-limits.ts'
import { encodeMetric } from '../../telemetry/otlp/metric.ts'
import {
  type Deliver,
  type DropReason,
  dropReasons,
  type ExportCounts,
  RetryingSender,
} from '../../telemetry/otlp/retrying-sender.ts'
import { WireBuffer } from '../../telemetry/otlp/wire-buffer.ts'

export interface PushConfig {
  intervalMs: number
  /** Name of the collector, for the log. */
  to: string
}

export interface PushOptions {
  collector: Collector
  /** Sends a request through a worker, because the main thread has no backends. */
  deliver: Deliver
  log: Logger
  /** The start time of the counters, in milliseconds since 1970. */
  startedAt?: number
  clock?: () => number
}

/**
 * Sends the metrics of all workers to a collector, at intervals. Values count from the start of the process, so that one
 * push that is lost costs a point and no count. There is one push at a time, made request by request, so that a
 * collector that is away costs no memory: while one is still tried, the next is not begun.
 */
export class MetricsPush {
  readonly #options: PushOptions
  readonly #startedAt: number
  readonly #wrap = createEnvelope(exportOrigin(process.env))
  readonly #counts: ExportCounts
  #config: PushConfig | null = null
  #sender: RetryingSender | null = null
  #timer: NodeJS.Timeout | null = null
  #pushing: Promise<void> | null = null
  /** The number of points of the request in flight. */
  #underWay = 0

  constructor(options: PushOptions) {
    this.#options = options
    this.#startedAt = options.startedAt ?? Date.now() - process.uptime() * 1000
    this.#counts = countsIn(options.collector)
  }

  /** Applies the settings of the newest config; null stops pushing. */
  use(config: PushConfig | null): void {
    if (config?.intervalMs === this.#config?.intervalMs && config?.to === this.#config?.to) return
    this.#config = config
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#sender = null
    if (config === null) return
    const { deliver, log } = this.#options
    const limits = { ...exportLimits, retryMs: Math.min(exportLimits.retryMs, config.intervalMs) }
    this.#sender = new RetryingSender({ deliver, counts: this.#counts, limits, log, to: config.to })
    this.#timer = setInterval(() => void this.#begin(), config.intervalMs).unref()
  }

  /** Sends the last values, within a short time limit. */
  async end(): Promise<void> {
    const [sender, pushing] = [this.#sender, this.#pushing]
    this.use(null)
    if (sender === null) return
    sender.hurry(END_MS)
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, END_MS)
    const last = async (): Promise<void> => {
      await pushing
      await this.#push(sender)
    }
    await Promise.race([last(), limit.promise])
    clearTimeout(timer)
    if (this.#underWay > 0) sender.drop(this.#underWay, 'shutdown', 'the gateway ends')
  }

  async #begin(): Promise<void> {
    const sender = this.#sender
    if (sender === null || this.#pushing !== null) return
    this.#pushing = this.#push(sender)
    await this.#pushing
    this.#pushing = null
  }

  async #push(sender: RetryingSender): Promise<void> {
    for (const { bytes, points } of this.#requests()) {
      this.#underWay = points
      await sender.send(bytes, points)
      this.#underWay = 0
    }
  }

  /** Generates the export requests lazily. */
  *#requests(): Iterable<{ bytes: Buffer; points: number }> {
    const metrics = new WireBuffer()
    let points = 0
    for (const reading of this.#options.collector.read()) {
      const times = { start: this.#startedAt, now: (this.#options.clock ?? Date.now)() }
      for (const metric of encodeMetric(reading, times)) {
        if (points > 0 && metrics.length + metric.bytes.length > exportLimits.batchBytes) {
          yield { bytes: this.#wrap(metrics.take()), points }
          points = 0
        }
        metrics.byte(ITEM)
        metrics.varint(metric.bytes.length)
        metrics.raw(metric.bytes)
        points += metric.points
      }
    }
    if (points > 0) yield { bytes: this.#wrap(metrics.take()), points }
  }
}

/** Registers the counters of exports, so that all series exist from the start. */
function countsIn(collector: Collector): ExportCounts {
  let sent = 0
  const dropped = new Map<DropReason, number>(dropReasons.map((reason) => [reason, 0]))
  collector.provide('otlp_exported_records_total', ['metrics'], () => sent)
  for (const reason of dropReasons) {
    collector.provide('otlp_dropped_records_total', ['metrics', reason], () => dropped.get(reason) ?? 0)
  }
  return {
    sent: (count) => void (sent += count),
    dropped: (count, reason) => void dropped.set(reason, (dropped.get(reason) ?? 0) + count),
  }
}

/** How long a stop waits for a collector to take the last metrics. Workers have as long for spans and logs after that. */
const END_MS = 750
