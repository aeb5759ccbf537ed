import type { RemoteInfo } from 'node:dgram'
import type { ConnectionInfo } from '../../exchange/exchange.ts'
import { Deadline } from '../../runtime/deadlines.ts'
import { contained, reportFault } from '../../runtime/faults.ts'
import type { DatagramClient, DatagramSession, DropReason, SessionEnd } from './datagram-state.ts'

/** The server of an entry. */
export interface EntryOwner<Session extends DatagramSession> {
  /** Starts the idle timeout again. */
  touch(entry: SourceEntry<Session>): void
  /** Keeps an entry without a session for some time. */
  hold(entry: SourceEntry<Session>, milliseconds: number): void
  drop(reason: DropReason): void
  send(datagram: Buffer, source: RemoteInfo): void
  remove(entry: SourceEntry<Session>): void
}

/** The entry of one source in the table: its session, or the memory that none could be opened. */
export class SourceEntry<Session extends DatagramSession> implements DatagramClient {
  readonly info: ConnectionInfo
  /** Null until the session has begun, and when it could not be opened. */
  session: Session | null = null
  readonly idle: Deadline
  readonly source: RemoteInfo
  readonly #owner: EntryOwner<Session>
  #isOver = false
  #hasFailed = false

  constructor(source: RemoteInfo, info: ConnectionInfo, owner: EntryOwner<Session>) {
    this.source = source
    this.info = info
    this.#owner = owner
    this.idle = new Deadline(() => (this.#hasFailed ? this.ended() : this.end('idle')))
  }

  begin(session: Session): void {
    if (!this.#isOver && !this.#hasFailed) this.session = session
  }

  /** Returns false when the source has no session any more. An exception ends this session alone. */
  received(datagram: Buffer): boolean {
    if (this.#hasFailed) {
      this.#owner.drop('no_backend')
      return true
    }
    const { session } = this
    if (session === null) return false
    try {
      if (!session.received(datagram)) return false
    } catch (error) {
      reportFault(error, 'connection')
      this.end('removed')
      return true
    }
    if (!this.#isOver && !this.#hasFailed) this.#owner.touch(this)
    return true
  }

  send(datagram: Buffer): void {
    if (this.#isOver) return
    this.#owner.send(datagram, this.source)
    this.#owner.touch(this)
  }

  dropped(reason: DropReason): void {
    this.#owner.drop(reason)
  }

  end(cause: SessionEnd): void {
    const { session } = this
    this.ended()
    if (session !== null) contained('connection', () => session.end(cause))
  }

  ended(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.session = null
    this.#owner.remove(this)
  }

  failed(): void {
    if (this.#isOver) return
    this.#hasFailed = true
    this.session = null
    this.#owner.hold(this, FAILED_MS)
  }
}

/** A source without a backend opens at most one session in this time. */
const FAILED_MS = 1_000
