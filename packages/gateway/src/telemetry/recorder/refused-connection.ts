import type { RecordedListener } from './facts.ts'

/** A connection that was closed before its first request. */
export interface RefusedConnection {
  code: 'network_authorization' | 'bad_proxy_header' | 'tls_refused' | 'max_sessions' | 'max_sessions_per_address'
  /** Why the TLS handshake failed, if it did: a `HandshakeFailure` of the listener. */
  cause?: string | undefined
  error: string
  /** The result of each rule. */
  rules: readonly object[] | undefined
  listener: RecordedListener | null
  /** Present for datagrams. */
  protocol?: 'udp'
}

/** The reason and protocol of refused connections in records. */
export const REFUSED_CONNECTIONS = {
  network_authorization: { kind: 'NetworkAuthorization', protocol: 'tcp' },
  bad_proxy_header: { kind: 'ProxyProtocol', protocol: 'tcp' },
  tls_refused: { kind: 'TlsHandshake', protocol: 'tls' },
  max_sessions: { kind: 'SessionLimit', protocol: 'udp' },
  max_sessions_per_address: { kind: 'SessionLimit', protocol: 'udp' },
} as const
