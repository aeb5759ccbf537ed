import type { Socket } from 'node:net'
import type { AcceptTlsOptions, TlsChoice } from './tls/accept-tls.ts'
import type { ClientHello } from './tls/client-hello.ts'
import type { HandshakeFailure } from './tls/tls.ts'
import type { ConnectionInfo, Exchange, ActiveRequest } from '../exchange/exchange.ts'
import type { Http2Limits } from './http2/server-connection.ts'
import type { ProxyProtocolOptions } from '../socket/proxy-protocol.ts'

/**
 * How the connections of a bind are handled; replaced as a whole when the config changes. `L` identifies a listener.
 */
export interface BindState<L> {
  kind: 'http' | 'tls' | 'tcp'
  proxyProtocol: ProxyProtocolOptions | null
  /** Called once for each connection, before TLS or HTTP is detected; null admits every connection. */
  admits: ((info: ConnectionInfo) => boolean) | null
  keepalive: { retries: number; timeMs: number; intervalMs: number } | null
  /** The limit on connections, if any, and the count over all workers. */
  cap: { limit: number; count: SharedCount } | null
  handshakeTimeoutMs: number
  http1: { maxHeaders: number; idleTimeoutMs: number }
  http2: Http2Limits
  /** Milliseconds; 0 disables the limit. */
  maxConnectionDurationMs: number
  /** TLS binds on which no listener terminates TLS for HTTP: an unknown server name is closed without an alert. */
  isSilent?: boolean
  /** TLS binds: accepts a connection. The code is loaded with the config, because plain ports do not need it. */
  acceptTls(socket: Socket, options: AcceptTlsOptions<L>): void
  /** TLS binds: the listener for a server name. */
  chooseTls(hello: ClientHello): TlsChoice<L> | null
  /** `listener` was chosen by the server name; null on plain binds. */
  onExchange(exchange: Exchange, listener: L | null): void
  /** Returns whether the terminated TLS carries a protocol other than HTTP; left out when it is always HTTP. */
  isRaw?(listener: L): boolean
  /** Handles connections of TCP listeners, and of TLS listeners without HTTP. */
  onRaw(socket: Socket, info: ConnectionInfo, listener: L | null): ActiveRequest
  /** Called when the parser answered a message because it is not a valid request. */
  onMalformed(info: ConnectionInfo, status: number, code: string): void
  /** Called when a connection was closed before the client could send a request. */
  onRefused(info: ConnectionInfo, refusal: ConnectionRefusal<L>): void
}

export interface ConnectionRefusal<L> {
  code: 'network_authorization' | 'bad_proxy_header' | 'tls_refused'
  /** Why the TLS handshake failed, with `tls_refused`. */
  cause?: HandshakeFailure
  /** The error message; empty when the code says enough. */
  error: string
  sni: string
  /** The listener that the client addressed, if known. */
  listener: L | null
}

/** A count that all workers share. */
export interface SharedCount {
  /** Adds one, unless the count would exceed `most`. */
  enter(most: number): boolean
  add(change: number): void
}

export interface BindObserver {
  opened(): void
  closed(bytesRead: number, bytesWritten: number): void
  handshake(milliseconds: number): void
  /** Called for a malformed or refused connection (status 0) or message; `error` has details, if any. */
  refused: (info: ConnectionInfo, status: number, code: string, error?: string) => void
  /** Called when a malformed HTTP/2 message was reset without a response. */
  reset: (info: ConnectionInfo, code: string) => void
}
