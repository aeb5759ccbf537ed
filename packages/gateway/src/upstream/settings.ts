import type { DialOptions } from './dial.ts'
import type { HealthRule } from './endpoint-call.ts'
import type { BackendTlsConfig } from './tls.ts'

/** How to talk to a backend, put together from its policies. */
export interface ConnectionSettings {
  connectTimeoutMs: number
  keepalive: DialOptions['keepalive']
  /** Null speaks plain text. */
  tls: BackendTlsConfig | null
  /** Null follows the client's version. */
  version: 'HTTP1' | 'HTTP2' | null
  /** Limit for the response head of one attempt; 0 is none. */
  requestTimeoutMs: number
  poolIdleTimeoutMs: number
  poolMaxIdle: number
  /** Null connects straight to the backend. */
  tunnel: DialOptions['tunnel']
  /** Null when no policy speaks of health. */
  health: HealthRule | null
}

/** What the process config decides for all backends. */
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
