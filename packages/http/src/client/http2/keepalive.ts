import { Deadline, type Deadlines } from '../../runtime/deadlines.ts'

/** The connection that is monitored. */
export interface KeptConnection {
  /** Whether calls are in progress. */
  readonly isBusy: boolean
  /** Bytes received so far, of any kind. */
  readonly bytesRead: number
  ping(answered: () => void): void
  /** Called when `isAnswered` may have changed: a ping was answered, or is late. */
  changed(): void
  /** Lets calls in progress end; no more calls are sent. */
  close(): void
  /** Called when a ping was not answered in time. */
  fellSilent(): void
}

/**
 * Detects a dead peer: dropped packets do not break a connection. gRPC servers close connections of clients that ping
 * more often than every five minutes, unless the server has answered something in between.
 */
export class Keepalive {
  readonly #connection: KeptConnection
  readonly #deadlines: Deadlines
  readonly #deadline = new Deadline(() => this.#due())
  #isSet = false
  #isOver = false
  /** When a response or a ping reply last arrived. */
  #heardAt: number
  #pingedAt = -Infinity
  /** Whether anything was answered since the last ping. */
  #isPingFree = true
  #bytesAtPing = 0
  /** Whether a ping is unanswered. */
  #isAsked = false
  #isLate = false

  constructor(connection: KeptConnection, deadlines: Deadlines) {
    this.#connection = connection
    this.#deadlines = deadlines
    this.#heardAt = deadlines.now()
  }

  /** Whether no ping is unanswered. */
  get isAnswered(): boolean {
    return !this.#isAsked
  }

  /** Whether a pending ping reply will soon tell if the connection is alive. */
  get isAboutToTell(): boolean {
    return this.#isAsked && !this.#isLate
  }

  /** Called when a call was sent. */
  watch(): void {
    if (!this.#isSet && !this.#isOver) this.#set(QUIET_MS)
  }

  /** Called when part of a response has arrived. */
  heard(): void {
    this.#heardAt = this.#deadlines.now()
    this.#isPingFree = true
  }

  /** Returns whether a call may be sent on an idle connection; after a long pause, a ping has to be answered first. */
  isAwake(): boolean {
    if (this.#quietMs < QUIET_MS) return true
    this.#askOrClose()
    return false
  }

  /** Called when a call sent at `sentAt` was canceled without a response. */
  doubt(sentAt: number): void {
    if (this.#isAsked || this.#isOver) return
    if (this.#deadlines.now() - Math.max(sentAt, this.#heardAt) < DOUBT_MS) return
    if (this.#mayPing || this.#quietMs >= QUIET_MS) this.#askOrClose()
  }

  /** Called when the connection is closed. */
  stop(): void {
    this.#isOver = true
    this.#deadlines.clear(this.#deadline)
  }

  get #quietMs(): number {
    return this.#deadlines.now() - this.#heardAt
  }

  get #mayPing(): boolean {
    return this.#isPingFree || this.#deadlines.now() - this.#pingedAt >= SPACING_MS
  }

  #set(ms: number): void {
    this.#isSet = true
    this.#deadlines.set(this.#deadline, ms)
  }

  #askOrClose(): void {
    if (this.#isAsked || this.#isOver) return
    if (this.#mayPing) this.#ask()
    else this.#connection.close()
  }

  #ask(): void {
    this.#isAsked = true
    this.#isPingFree = false
    this.#pingedAt = this.#deadlines.now()
    this.#bytesAtPing = this.#connection.bytesRead
    this.#deadlines.clear(this.#deadline)
    this.#set(PATIENCE_MS)
    this.#connection.ping(() => this.#answered())
  }

  #answered(): void {
    if (!this.#isAsked || this.#isOver) return
    this.#isAsked = false
    this.#isLate = false
    this.#heardAt = this.#deadlines.now()
    this.#set(QUIET_MS)
    this.#connection.changed()
  }

  #due(): void {
    this.#isSet = false
    if (this.#isAsked) return this.#isLate ? this.#judgeSoon() : this.#beLate()
    if (!this.#connection.isBusy) return
    const rest = QUIET_MS - this.#quietMs
    if (rest > 0) this.#set(rest)
    else if (this.#mayPing) this.#ask()
    else this.#set(this.#pingedAt + SPACING_MS - this.#deadlines.now())
  }

  #beLate(): void {
    this.#isLate = true
    this.#set(PING_TIMEOUT_MS - PATIENCE_MS)
    this.#connection.changed()
  }

  /** A busy worker has not read what arrived meanwhile; reads happen before the next immediate. */
  #judgeSoon(): void {
    setImmediate(() => {
      if (!this.#isAsked || this.#isOver) return
      const bytes = this.#connection.bytesRead
      if (bytes === this.#bytesAtPing) return this.#connection.fellSilent()
      this.#bytesAtPing = bytes
      this.#set(PING_TIMEOUT_MS)
    })
  }
}

/** Milliseconds without an answer after which the connection is pinged. */
export const QUIET_MS = 30_000
/** Milliseconds that calls wait for a ping reply before they use another connection. */
export const PATIENCE_MS = 500
/** Milliseconds after which a connection with an unanswered ping is closed. */
export const PING_TIMEOUT_MS = 20_000
/** Milliseconds between pings to a server that answers nothing else: a little more than gRPC servers require. */
export const SPACING_MS = 310_000
/** A call canceled sooner than this says nothing about the connection. */
const DOUBT_MS = 50
