import { follow } from '../../pipeline/call/follow.ts'
import { Deadline } from '@portico/http'
import type { Exchange } from '../engine/exchange.ts'
import type { Target } from '../targets/target.ts'
import type { RpcMessage } from '../protocol.ts'
import type { LinkCall, TargetFailure, TargetLink } from '../transport.ts'

interface TargetStreamsEvents {
  /** Called when the stream of a target is open, or will be opened again. */
  opened(): void
  /** Takes one message; false means to pause until `resume`. */
  message(message: RpcMessage, target: Target, eventId: string): boolean
  mark(target: Target, eventId: string, retryMs: number | null): void
  /** Called when the target's stream is over; `failure` is null when the target ended it. */
  over(target: Target, failure: TargetFailure | null): void
}

interface TargetStreamsOptions {
  /** Whether a stream that ends is opened again, unnoticed by the client. */
  isLasting: boolean
  /** Whether a target that lost the session is initialized again; the stream then starts without history. */
  canBeginAnew: boolean
  /** The event ids to resume the streams from, by target. */
  positions: Map<string, string>
}

/** The streams of messages that the targets of a session send outside of requests. */
export class TargetStreams {
  readonly #exchange: Exchange
  readonly #options: TargetStreamsOptions
  readonly #events: TargetStreamsEvents
  readonly #calls = new Map<Target, LinkCall>()
  readonly #pauses = new Map<Target, Deadline>()
  /** The number of consecutive failures to open a target's stream. */
  readonly #failures = new Map<Target, number>()
  readonly #begunAnew = new Set<Target>()
  /** The targets whose stream was requested, successfully or not. */
  readonly #listened = new Set<Target>()
  #isClosed = false

  constructor(exchange: Exchange, options: TargetStreamsOptions, events: TargetStreamsEvents) {
    this.#exchange = exchange
    this.#options = options
    this.#events = events
  }

  /** Whether no stream is open, and none will be opened again. */
  get isSilent(): boolean {
    return this.#calls.size === 0 && this.#pauses.size === 0
  }

  listen(target: Target): void {
    if (target.transport.listensSilently === true) this.#events.opened()
    this.#listened.add(target)
    // The stream may end before `listen` returns.
    this.#calls.set(target, NOTHING)
    const { session } = this.#exchange
    const link = session.link(target)
    const call = link.listen(this.#options.positions.get(target.name) ?? '', this.#exchange.callerFor(target), {
      opened: () => {
        this.#failures.delete(target)
        this.#begunAnew.delete(target)
        this.#events.opened()
      },
      message: (message, eventId) => this.#events.message(message, target, eventId),
      mark: (eventId, retryMs) => this.#events.mark(target, eventId, retryMs),
      closed: () => this.#ended(target, null),
      failed: (failure) => {
        if (failure.code === 'session_lost') this.#beginAnew(target, link, failure)
        else this.#ended(target, failure)
      },
    })
    if (this.#isClosed) call.cancel(CLOSED)
    else if (this.#calls.get(target) === NOTHING) this.#calls.set(target, call)
  }

  /** Initializes a target that the session began without, and opens its stream. */
  join(target: Target): void {
    if (this.#isClosed || this.#listened.has(target)) return
    const { session, rx } = this.#exchange
    if (session.knows(target)) return this.listen(target)
    const begun = session.begin(target, this.#exchange.callerFor(target), null).then((problem) => {
      if (problem === null && !this.#isClosed && !this.#listened.has(target)) this.listen(target)
    })
    follow(rx, begun)
  }

  resume(): void {
    for (const call of this.#calls.values()) call.resume()
  }

  close(cause: Error): void {
    this.#isClosed = true
    for (const call of this.#calls.values()) call.cancel(cause)
    for (const pause of this.#pauses.values()) this.#exchange.endpoint.deadlines.clear(pause)
    this.#calls.clear()
    this.#pauses.clear()
  }

  /** Initializes the target again, but only once in a row: a target that loses every session would cause a loop. */
  #beginAnew(target: Target, lost: TargetLink, failure: TargetFailure): void {
    if (this.#isClosed) return
    if (!this.#options.canBeginAnew || this.#begunAnew.has(target)) return this.#ended(target, failure)
    this.#begunAnew.add(target)
    this.#options.positions.delete(target.name)
    const { session } = this.#exchange
    const begun = session.begin(target, this.#exchange.callerFor(target), lost).then((problem) => {
      if (this.#isClosed) return
      if (problem === null) this.listen(target)
      else this.#ended(target, problem)
    })
    follow(this.#exchange.rx, begun)
  }

  #ended(target: Target, failure: TargetFailure | null): void {
    if (this.#isClosed) return
    this.#calls.delete(target)
    const isFinal = failure?.code === 'unsupported' || failure?.code === 'refused' || failure?.code === 'session_lost'
    if (this.#options.isLasting && !isFinal) this.#pause(target, failure !== null)
    else this.#events.over(target, failure)
  }

  #pause(target: Target, hasFailed: boolean): void {
    this.#events.opened()
    const failures = hasFailed ? (this.#failures.get(target) ?? 0) + 1 : 0
    this.#failures.set(target, failures)
    const pause = new Deadline(() => {
      this.#pauses.delete(target)
      this.listen(target)
    })
    this.#pauses.set(target, pause)
    this.#exchange.endpoint.deadlines.set(pause, Math.min(PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS))
  }
}

const NOTHING: LinkCall = { cancel() {}, resume() {} }
const PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
const CLOSED = new Error('the client left')
