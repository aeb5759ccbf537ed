import type { RecordedListener } from './facts.ts'

/** Why a connection never got as far as a request. */
export interface RefusedConnection {
  code: 'network_authorization' | 'bad_proxy_header' | 'tls_refused'
  error: string
  /** The result of each rule. */
  rules: readonly object[] | undefined
  listener: RecordedListener | null
}

/** How records call them. */
export const REFUSED_CONNECTIONS = {
  network_authorization: { kind: 'NetworkAuthorization', protocol: 'tcp' },
  bad_proxy_header: { kind: 'ProxyProtocol', protocol: 'tcp' },
  tls_refused: { kind: 'TlsHandshake', protocol: 'tls' },
} as const
