import type { ActiveRequest, ConnectionInfo } from '../../exchange/exchange.ts'
import type { SharedCount } from '../bind-state.ts'

/** Why a datagram was not forwarded. */
export type DropReason =
  | DatagramRefusal
  /** No route, no backend or no endpoint for the session, or its route denies the source. */
  | 'no_backend'
  /** The client sent more while the session was being opened than the gateway keeps. */
  | 'queue_full'
  /** The network of the other side cannot carry a datagram of this size. */
  | 'too_large'
  | 'send_failed'
  /** The port was removed from the config, and the source had no session. */
  | 'port_closed'

/** Why no session was opened for a datagram. */
export type DatagramRefusal = 'network_authorization' | 'max_sessions' | 'max_sessions_per_address'

/** How the datagrams of a port are handled; replaced as a whole when the config changes. */
export interface DatagramState<Session extends DatagramSession = DatagramSession> {
  /** A session without datagrams in either direction ends after this time. */
  idleTimeoutMs: number
  /** The limit on sessions, and the count over all workers. */
  cap: { limit: number; count: SharedCount }
  /** The most sessions of one address in one worker. */
  maxSessionsPerAddress: number
  /** Called before a session is opened, and for open sessions when the state changes; null admits every source. */
  admits: ((info: ConnectionInfo) => boolean) | null
  /** Opens the session of a new source. Its first datagram follows. */
  onSession(info: ConnectionInfo, client: DatagramClient): Session
  /** Returns whether a session that an earlier state opened may continue. */
  keeps(session: Session): boolean
  /** Called when no session was opened; the datagram is dropped. */
  onRefused(info: ConnectionInfo, code: DatagramRefusal): void
}

/** The source of a session, for the code that runs the session. */
export interface DatagramClient {
  readonly info: ConnectionInfo
  /** Sends a datagram to the source. */
  send(datagram: Buffer): void
  /** Counts a datagram of the source that is not forwarded. */
  dropped(reason: DropReason): void
  /** Ends the session for the server: the next datagram of the source opens another session. */
  ended(): void
  /** Ends the session for the server. For a second, datagrams of the source are dropped without a new session. */
  failed(): void
}

/** A session, for the server. After `end`, and after the client was told that it ended, nothing more is called. */
export interface DatagramSession extends ActiveRequest {
  /** Takes a datagram of the source. Returns false when the session has ended instead, so that another one is opened. */
  received(datagram: Buffer): boolean
  end(cause: SessionEnd): void
}

/** Why the server ends a session. */
export type SessionEnd = 'idle' | 'removed' | 'denied' | 'shutdown'

export interface DatagramObserver {
  opened(): void
  closed(): void
  received(bytes: number): void
  sent(bytes: number): void
  dropped(reason: DropReason): void
  refused(info: ConnectionInfo, code: DatagramRefusal): void
}
