import { ITEM } from './envelope.ts'
import type { ExportLimits } from './export-limits.ts'
import type { ItemQueue } from './item-queue.ts'
import { type Deliver, RetryingSender, type SenderOptions } from './retrying-sender.ts'
import { WireBuffer } from './wire-buffer.ts'

export interface ExporterOptions extends SenderOptions {
  wrap: (items: Uint8Array) => Buffer
  limits: ExportLimits
  /** Those with something to send: who shuts down asks them to hurry. */
  busy: Set<Exporter>
}

/**
 * Sends items of one kind in batches, one request at a time. It never makes anybody wait: what does not fit into its
 * queue is dropped and counted. While it has something to send, a timer or a request under way holds it, so that one
 * that a reload has left behind still sends the rest.
 */
export class Exporter implements ItemQueue {
  readonly #options: ExporterOptions
  readonly #sender: RetryingSender
  /** What waits, the oldest first; the last one is being filled. */
  #batches: Batch[] = []
  #items = 0
  #bytes = 0
  /** Of the batch that was sent last, for the next one: while there is much to send, none is made. */
  #spare: WireBuffer | null = null
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

  begin(): WireBuffer {
    let batch = this.#batches.at(-1)
    if (batch === undefined || this.#isFull(batch)) batch = this.#newBatch()
    const { wire, size } = batch
    wire.cut(size)
    wire.open(ITEM)
    return wire
  }

  added(): void {
    const { limits, busy } = this.#options
    let batch = this.#batches.at(-1)
    if (batch === undefined) return
    batch.wire.close(batch.size)
    const size = batch.wire.length - batch.size
    if (this.#items >= limits.queueItems || this.#bytes + size > limits.queueBytes) {
      return this.#sender.drop(1, 'queue_full', 'the queue is full')
    }
    if (batch.count > 0 && batch.wire.length > limits.batchBytes) batch = this.#moved(batch)
    if (this.#items === 0) busy.add(this)
    batch.count++
    batch.size += size
    this.#items++
    this.#bytes += size
    if (this.#sending === null) this.#sendSoon()
  }

  /** Sends what there is without waiting for more; what is left after that time is dropped. */
  async flush(timeoutMs: number): Promise<void> {
    this.#sender.hurry(timeoutMs)
    if (this.#sending === null && this.#items === 0) return
    const limit = Promise.withResolvers<void>()
    const timer = setTimeout(limit.resolve, timeoutMs)
    await Promise.race([this.#sending ?? this.#send(), limit.promise])
    clearTimeout(timer)
    const left = this.#items + this.#underWay
    if (left > 0) this.#sender.drop(left, 'shutdown', 'the gateway ends')
  }

  #sendSoon(): void {
    if (this.#hasFullBatch || this.#sender.isEnding) void this.#send()
    else this.#timer ??= setTimeout(() => void this.#send(), this.#options.limits.delayMs).unref()
  }

  get #hasFullBatch(): boolean {
    const [first] = this.#batches
    return first !== undefined && (this.#batches.length > 1 || this.#isFull(first))
  }

  #isFull({ count, size }: Batch): boolean {
    const { batchItems, batchBytes } = this.#options.limits
    return count >= batchItems || size >= batchBytes
  }

  /** With something to send. */
  #send(): Promise<void> {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    return (this.#sending = this.#sendAll())
  }

  async #sendAll(): Promise<void> {
    let batch = this.#batches.shift()
    while (batch !== undefined) {
      const { count } = batch
      this.#underWay = count
      await this.#sender.send(this.#requestOf(batch), count)
      this.#underWay = 0
      const goesOn = this.#sender.isEnding ? this.#items > 0 : this.#hasFullBatch
      batch = goesOn ? this.#batches.shift() : undefined
    }
    this.#sending = null
    if (this.#items > 0) return this.#sendSoon()
    this.#spare = null
    this.#options.busy.delete(this)
  }

  #requestOf({ wire, count, size }: Batch): Buffer {
    this.#items -= count
    this.#bytes -= size
    wire.cut(size)
    this.#spare = wire
    return this.#options.wrap(wire.view())
  }

  #newBatch(): Batch {
    const wire = this.#spare ?? new WireBuffer()
    this.#spare = null
    wire.cut(0)
    const batch = { wire, count: 0, size: 0 }
    this.#batches.push(batch)
    return batch
  }

  /** The item that made a batch too long begins another. */
  #moved({ wire, size }: Batch): Batch {
    const batch = this.#newBatch()
    batch.wire.raw(wire.view(size))
    return batch
  }
}

/** Items of one request to a collector, as they stand in it. */
interface Batch {
  wire: WireBuffer
  count: number
  /** Bytes of those that are whole. */
  size: number
}
