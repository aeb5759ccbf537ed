import { LAST_EVENT, type TraceEvent, type TraceFromWorker, type TraceToWorker } from './trace-event.ts'
import { createTraceMemory, TRACE_SLOTS, TraceSlots } from './trace-slots.ts'

/** The client of the admin API that waits for one request. */
export interface TraceClient {
  /** Called when every worker knows the watcher, so that the next request is traced. */
  ready(): void
  event(event: TraceEvent): void
  /** Called after the last event. */
  end(): void
}

/** The watchers in the main thread; each gets one request of any worker. */
export class TraceHub {
  readonly shared = createTraceMemory()
  readonly #slots = new TraceSlots(this.shared)
  readonly #workers = new Map<number, (message: TraceToWorker) => void>()
  /** In order of arrival. */
  readonly #watchers = new Map<number, Watcher>()
  #lastId = 0

  get isFull(): boolean {
    return this.#watchers.size >= TRACE_SLOTS
  }

  /** Adds a watcher; the returned function removes it when the client disconnects. */
  watch(expression: string | null, client: TraceClient): () => void {
    const id = this.#nextId()
    const slot = this.#freeSlot()
    const watcher: Watcher = {
      id,
      slot,
      expression,
      client,
      unknownTo: new Set(this.#workers.keys()),
      state: 'announced',
      lastAt: 0,
    }
    this.#watchers.set(id, watcher)
    this.#tell({ type: 'watch', id, slot, expression })
    this.#armIfKnown(watcher)
    return () => this.#forget(watcher)
  }

  /** Adds a worker. Call it before the worker gets its first config, so that the worker knows all watchers at its first request. */
  born(worker: number, post: (message: TraceToWorker) => void): void {
    this.#workers.set(worker, post)
    for (const { id, slot, expression, state } of this.#watchers.values()) {
      if (state !== 'claimed') post({ type: 'watch', id, slot, expression })
    }
  }

  died(worker: number): void {
    this.#workers.delete(worker)
    for (const watcher of this.#watchers.values()) {
      if (this.#slots.isTakenBy(watcher.slot, worker)) this.#finish(watcher, workerDied(watcher.lastAt))
      else if (watcher.unknownTo.delete(worker)) this.#armIfKnown(watcher)
    }
  }

  received(worker: number, message: TraceFromWorker): void {
    const watcher = this.#watchers.get(message.id)
    // The client may have disconnected meanwhile.
    if (watcher === undefined) return
    if (message.type === 'watching') {
      watcher.unknownTo.delete(worker)
      return this.#armIfKnown(watcher)
    }
    const { event } = message
    if (watcher.state !== 'claimed') {
      watcher.state = 'claimed'
      this.#countArmed()
      this.#tell({ type: 'unwatch', id: watcher.id })
    }
    watcher.lastAt = Math.max(watcher.lastAt, event.eventEnd)
    if (event.message.type === LAST_EVENT) this.#finish(watcher, event)
    else watcher.client.event(event)
  }

  #armIfKnown(watcher: Watcher): void {
    if (watcher.state !== 'announced' || watcher.unknownTo.size > 0) return
    watcher.state = 'armed'
    this.#slots.arm(watcher.slot, watcher.id)
    this.#countArmed()
    watcher.client.ready()
  }

  #finish(watcher: Watcher, last: TraceEvent): void {
    this.#forget(watcher)
    watcher.client.event(last)
    watcher.client.end()
  }

  #forget(watcher: Watcher): void {
    if (!this.#watchers.delete(watcher.id)) return
    this.#slots.free(watcher.slot)
    this.#countArmed()
    if (watcher.state !== 'claimed') this.#tell({ type: 'unwatch', id: watcher.id })
  }

  #countArmed(): void {
    this.#slots.countArmed(this.#watchers.values().reduce((sum, { state }) => (state === 'armed' ? sum + 1 : sum), 0))
  }

  #tell(message: TraceToWorker): void {
    for (const post of this.#workers.values()) post(message)
  }

  #nextId(): number {
    // Ids fit into a positive 32-bit word; after two billion ids the first watcher is long gone.
    this.#lastId = (this.#lastId % 0x7fff_ffff) + 1
    return this.#lastId
  }

  #freeSlot(): number {
    const taken = new Set(this.#watchers.values().map((watcher) => watcher.slot))
    for (let slot = 0; slot < TRACE_SLOTS; slot++) if (!taken.has(slot)) return slot
    throw new RangeError('too many watchers: ask isFull first')
  }
}

interface Watcher {
  readonly id: number
  readonly slot: number
  readonly expression: string | null
  readonly client: TraceClient
  /** Workers that have not confirmed the watcher yet. */
  readonly unknownTo: Set<number>
  state: 'announced' | 'armed' | 'claimed'
  /** The time of the last event, in microseconds from the start of the request. */
  lastAt: number
}

function workerDied(at: number): TraceEvent {
  return {
    eventStart: null,
    eventEnd: at,
    severity: 'error',
    message: { type: LAST_EVENT, status: null, error: 'worker died' },
  }
}
