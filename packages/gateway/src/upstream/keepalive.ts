import { Deadline, type Deadlines } from '../net/deadlines.ts'

/** The connection that is watched over. */
export interface KeptConnection {
  /** Calls are under way. */
  readonly isBusy: boolean
  /** Bytes that have come so far, of whatever kind. */
  readonly bytesRead: number
  ping(answered: () => void): void
  /** Look again at whether it takes calls: a ping was answered, or is late. */
  changed(): void
  /** Calls under way may end on it, no more are sent. */
  close(): void
  /** A ping was not answered in time. */
  fellSilent(): void
}

/**
 * Finds out that nobody is at the other end any more: packets that are dropped on the way break no connection. Servers
 * of gRPC hang up on clients that ping more often than every five minutes, unless they have answered something since.
 */
export class Keepalive {
  readonly #connection: KeptConnection
  readonly #deadlines: Deadlines
  readonly #deadline = new Deadline(() => this.#due())
  #isSet = false
  #isOver = false
  /** When an answer was last heard, of a call or to a ping. */
  #heardAt: number
  #pingedAt = -Infinity
  /** Something was answered since the last ping. */
  #isPingFree = true
  #bytesAtPing = 0
  /** A ping is not answered. */
  #isAsked = false
  #isLate = false

  constructor(connection: KeptConnection, deadlines: Deadlines) {
    this.#connection = connection
    this.#deadlines = deadlines
    this.#heardAt = deadlines.now()
  }

  /** The server waits for no answer to a ping: it is there. */
  get isAnswered(): boolean {
    return !this.#isAsked
  }

  /** An answer to a ping will tell soon whether it takes calls. */
  get isAboutToTell(): boolean {
    return this.#isAsked && !this.#isLate
  }

  /** A call was sent. */
  watch(): void {
    if (!this.#isSet && !this.#isOver) this.#set(QUIET_MS)
  }

  /** Something of an answer has come. */
  heard(): void {
    this.#heardAt = this.#deadlines.now()
    this.#isPingFree = true
  }

  /** Whether a call may be sent on a connection without calls: after a long time it has to answer a ping first. */
  isAwake(): boolean {
    if (this.#quietMs < QUIET_MS) return true
    this.#askOrClose()
    return false
  }

  /** A call that was sent then was given up without an answer. */
  doubt(sentAt: number): void {
    if (this.#isAsked || this.#isOver) return
    if (this.#deadlines.now() - Math.max(sentAt, this.#heardAt) < DOUBT_MS) return
    if (this.#mayPing || this.#quietMs >= QUIET_MS) this.#askOrClose()
  }

  /** The connection is closed. */
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

  /** A worker that was busy itself has not read what came meanwhile: that is done before the next immediate. */
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

/** A connection that has answered nothing for so long is asked whether it is there. */
export const QUIET_MS = 30_000
/** Calls wait so long for the answer to a ping before they go elsewhere. */
export const PATIENCE_MS = 500
/** A connection that has not answered a ping by then is closed. */
export const PING_TIMEOUT_MS = 20_000
/** Between pings of a server that answers nothing else: what servers of gRPC ask for, and a little more. */
export const SPACING_MS = 310_000
/** A call that was given up sooner says nothing about the connection. */
const DOUBT_MS = 50
