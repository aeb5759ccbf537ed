import type { TraceEvent, TraceFromWorker, TraceToWorker } from './trace-event.ts'
import { ARMED_COUNT, TraceSlots } from './trace-slots.ts'

interface TraceWatchOptions<Subject> {
  shared: SharedArrayBuffer
  /** Number of this worker. */
  worker: number
  /** Compiles an expression that the main thread has already checked. */
  compile: (expression: string) => (subject: Subject) => boolean
  post: (message: TraceFromWorker) => void
}

/** The watchers in a worker, in order of arrival, which is the same in every worker. */
export class TraceWatch<Subject> {
  readonly #words: Int32Array
  readonly #slots: TraceSlots
  readonly #options: TraceWatchOptions<Subject>
  #watchers: Watcher<Subject>[] = []

  constructor(options: TraceWatchOptions<Subject>) {
    this.#words = new Int32Array(options.shared)
    this.#slots = new TraceSlots(options.shared)
    this.#options = options
  }

  /** Whether any watcher is armed. Every request reads it, so it costs one load while nobody watches. */
  get armed(): boolean {
    return Atomics.load(this.#words, ARMED_COUNT) !== 0
  }

  /** Claims the request for the first watcher whose expression matches; null without one. */
  claim(subject: Subject): ((event: TraceEvent) => void) | null {
    for (const { id, slot, matches } of this.#watchers) {
      if (!this.#slots.isArmed(slot, id)) continue
      if (matches !== null && !matches(subject)) continue
      if (this.#slots.claim(slot, id, this.#options.worker)) return (event) => this.#send(id, event)
    }
    return null
  }

  take(message: TraceToWorker): void {
    if (message.type === 'unwatch') {
      this.#watchers = this.#watchers.filter((watcher) => watcher.id !== message.id)
      return
    }
    const { id, slot, expression } = message
    this.#watchers.push({ id, slot, matches: expression === null ? null : this.#compile(expression) })
    this.#options.post({ type: 'watching', id })
  }

  #compile(expression: string): (subject: Subject) => boolean {
    try {
      return this.#options.compile(expression)
    } catch {
      // Traffic must not fail: a watcher with a broken expression waits until its client disconnects.
      return () => false
    }
  }

  #send(id: number, event: TraceEvent): void {
    try {
      this.#options.post({ type: 'traced', id, event })
    } catch (error) {
      // The event cannot be cloned: the request and its stream of events continue without it.
      const message = { type: event.message.type, unsent: String(error) }
      this.#options.post({ type: 'traced', id, event: { ...event, message } })
    }
  }
}

interface Watcher<Subject> {
  id: number
  slot: number
  /** Null matches any request. */
  matches: ((subject: Subject) => boolean) | null
}
