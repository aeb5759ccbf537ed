import type { DialOptions } from '../pool/dial.ts'
import type { HealthRule } from '../endpoints/endpoints.ts'
import type { BackendTlsConfig } from './tls.ts'

/** Connection settings of a backend, merged from its policies. */
export interface ConnectionSettings {
  connectTimeoutMs: number
  keepalive: DialOptions['keepalive']
  /** Null connects without TLS. */
  tls: BackendTlsConfig | null
  /** Null follows the client's version. */
  version: 'HTTP1' | 'HTTP2' | null
  /** Milliseconds until the response head of one attempt; 0 disables the limit. */
  requestTimeoutMs: number
  poolIdleTimeoutMs: number
  poolMaxIdle: number
  /** Null connects directly to the backend. */
  tunnel: DialOptions['tunnel']
  /** Null when no policy sets `health`. */
  health: HealthRule | null
}

/** Defaults for all backends, from the process config. */
export interface ConnectionDefaults {
  connectTimeoutMs: number
  poolIdleTimeoutMs: number
  poolMaxIdle: number
}

export function defaultSettings(defaults: ConnectionDefaults): ConnectionSettings {
  return {
    ...defaults,
    keepalive: { retries: 9, timeMs: 180_000, intervalMs: 180_000 },
    tls: null,
    version: null,
    requestTimeoutMs: 0,
    tunnel: null,
    health: null,
  }
}
