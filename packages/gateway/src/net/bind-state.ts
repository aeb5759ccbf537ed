import type { Socket } from 'node:net'
import type { AcceptTlsOptions, TlsChoice } from './accept-tls.ts'
import type { ClientHello } from './client-hello.ts'
import type { ConnectionInfo, Exchange, UnderWay } from './exchange.ts'
import type { Http2Limits } from './http2/server-connection.ts'
import type { ProxyProtocolOptions } from './proxy-protocol.ts'

/** How connections of a bind are treated; replaced whole when the config changes. `L` names a listener. */
export interface BindState<L> {
  kind: 'http' | 'tls' | 'tcp'
  proxyProtocol: ProxyProtocolOptions | null
  /** Asked once for each connection, before TLS or HTTP is looked for; null lets everybody in. */
  admits: ((info: ConnectionInfo) => boolean) | null
  keepalive: { retries: number; timeMs: number; intervalMs: number } | null
  /** The most connections, where there is a limit, and what counts those of all workers. */
  cap: { limit: number; count: SharedCount } | null
  handshakeTimeoutMs: number
  http1: { maxHeaders: number; idleTimeoutMs: number }
  http2: Http2Limits
  /** 0 is no limit. */
  maxConnectionDurationMs: number
  /** TLS binds of which no listener ends TLS for HTTP: a name that nobody has is closed without an alert. */
  isSilent?: boolean
  /** TLS binds: begins with a connection. Its code is loaded with the config, because plain ports do without it. */
  acceptTls(socket: Socket, options: AcceptTlsOptions<L>): void
  /** TLS binds: the listener for a server name. */
  chooseTls(hello: ClientHello): TlsChoice<L> | null
  /** `listener` is the one chosen by server name, or null on plain binds. */
  onExchange(exchange: Exchange, listener: L | null): void
  /** Whether what is inside of the TLS that ends here is no HTTP; left out where it always is. */
  isRaw?(listener: L): boolean
  /** TCP listeners, and TLS ones. */
  onRaw(socket: Socket, info: ConnectionInfo, listener: L | null): UnderWay
  /** A message that was answered by the parser because it is no request. */
  onMalformed(info: ConnectionInfo, status: number, code: string): void
  /** A connection that was closed before anything could be asked on it, though the client had meant to. */
  onRefused(info: ConnectionInfo, refusal: ConnectionRefusal<L>): void
}

export interface ConnectionRefusal<L> {
  code: 'network_authorization' | 'bad_proxy_header' | 'tls_refused'
  /** What was wrong; empty where the code says it all. */
  error: string
  sni: string
  /** The one that the client was to come to, where that is known. */
  listener: L | null
}

/** A number that all workers change together. */
export interface SharedCount {
  /** Counts one more, unless there would be more than `most`. */
  enter(most: number): boolean
  add(change: number): void
}

export interface BindObserver {
  opened(): void
  closed(bytesRead: number, bytesWritten: number): void
  handshake(milliseconds: number): void
  /** A connection (status 0) or a message that is not well formed, or not let in; `error` says more where there is more. */
  refused: (info: ConnectionInfo, status: number, code: string, error?: string) => void
  /** A message of HTTP/2 that got no answer, because it is none. */
  reset: (info: ConnectionInfo, code: string) => void
}
