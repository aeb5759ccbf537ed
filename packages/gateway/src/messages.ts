import type { Ir } from './ir/resources.ts'
import type { ConnectionDefaults } from './upstream/settings.ts'
import type { LookupFamily } from './upstream/dns.ts'
import type { SeriesDefinition } from './telemetry/metrics.ts'
import type { LogFormat } from './telemetry/logger.ts'

/** What a worker is born with; it does not change while it lives. */
export interface WorkerSettings {
  /** `worker-<n>`: its name in logs and metrics. */
  name: string
  region: SharedArrayBuffer
  logFilter: string
  logFormat: LogFormat
  lookupFamily: LookupFamily
  upstream: ConnectionDefaults
  /** Lets a TLS session of one worker be resumed on another. */
  ticketSecret: Uint8Array
  /** Several workers share each port. */
  reusePort: boolean
}

export type ToWorker =
  /** `ports` are the real ones, by bind key: the main thread has picked them. */
  | { type: 'config'; generation: number; ir: Ir; ports: Record<string, number> }
  | { type: 'logFilter'; filter: string }
  /** Connections end after what they are doing. */
  | { type: 'drain' }
  | { type: 'stopListening' }
  | { type: 'exit' }

export type FromWorker =
  | { type: 'online' }
  /** One for each config, in the order they came. */
  | { type: 'applied'; error: string | null }
  | { type: 'series'; definition: SeriesDefinition }
  /** Said after `stopListening`, once nothing is open. */
  | { type: 'idle' }
