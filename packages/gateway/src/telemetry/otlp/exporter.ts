import { ITEM } from './envelope.ts'
import type { ExportLimits } from './export-limits.ts'
import type { ItemQueue } from './item-queue.ts'
import { type Deliver, RetryingSender, type SenderOptions } from './retrying-sender.ts'
import { WireBuffer } from './wire-buffer.ts'

interface ExporterOptions extends SenderOptions {
  wrap: (items: Uint8Array) => Buffer
  limits: ExportLimits
  /** The exporters with items to send, which a shutdown flushes. */
  busy: Set<Exporter>
}

/**
 * Sends items of one signal in batches, one request at a time. Callers never wait: items that do not fit into the queue are
 * dropped and counted. A timer or a request in progress references the exporter while it has items, so an exporter that a
 * reload replaced still sends its items.
 */
export class Exporter implements ItemQueue {
  readonly #options: ExporterOptions
  readonly #sender: RetryingSender
  /** Waiting batches, oldest first; the last batch is being filled. */
  #batches: Batch[] = []
  #items = 0
  #bytes = 0
  /** The buffer of the last sent batch, reused for the next batch. */
  #spare: WireBuffer | null = null
  #timer: NodeJS.Timeout | null = null
  #sending: Promise<void> | null = null
  /** The number of items in the request in progress. */
  #underWay = 0

  constructor(options: ExporterOptions) {
    this.#options = options
    this.#sender = new RetryingSender(options)
  }

  /** Sets the connection of the newest config generation. */
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

  /** Sends all items now; items that are not sent within `timeoutMs` are dropped. */
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

  /** Must be called with items in the queue. */
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

  /** Moves the item that made a batch too long to a new batch. */
  #moved({ wire, size }: Batch): Batch {
    const batch = this.#newBatch()
    batch.wire.raw(wire.view(size))
    return batch
  }
}

/** The encoded items of one request to a collector. */
interface Batch {
  wire: WireBuffer
  count: number
  /** The size of the complete items in bytes. */
  size: number
}
