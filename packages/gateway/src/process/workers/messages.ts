import type { CacheCommand, CacheCommandAnswer } from '../../cache/cache-command.ts'
import type { IrChange } from '../../ir/change.ts'
import type { IrText } from '../../ir/ir-text.ts'
import type { Ir } from '../../ir/resources.ts'
import type { LedgerMessage, JournalSettings } from '../../ledger/worker-messages.ts'
import type { HubFromWorker, HubToWorker } from '../../mcp/hub/hub-messages.ts'
import type { MeshState, MeshTrust } from '../../mesh/received-identity.ts'
import type { ConnectionDefaults, EndpointsChange, LookupFamily, NamedState } from '@portico/http/client'
import type { ProxyIdentity } from '../../pipeline/context/proxy-identity.ts'
import type { RedisSettings } from '../../stores/redis/connect.ts'
import type { TableSet } from '../../state/keyed-tables.ts'
import type { WorkerIndex } from '../../state/connection-count.ts'
import type { Exemplar } from '../../telemetry/metrics/exemplars.ts'
import type { SeriesDefinition } from '../../telemetry/metrics/metrics.ts'
import type { Delivery } from '../../telemetry/otlp/retrying-sender.ts'
import type { LogFormat } from '../../telemetry/log/logger.ts'
import type { RecorderMemory } from '../../telemetry/recorder/recorder.ts'
import type { TraceFromWorker, TraceToWorker } from '../../telemetry/trace/trace-event.ts'

/** The settings of a worker, fixed for its lifetime. */
export interface WorkerSettings {
  /** The number of the worker, unique within the process. */
  number: number
  /** `worker-<number>`: its name in logs and metrics. */
  name: string
  /** The index of the worker, and the number of indexes. */
  seat: WorkerIndex
  region: SharedArrayBuffer
  /** The counters that all workers share. */
  counters: SharedArrayBuffer
  /** The shared table of trace watchers. */
  traces: SharedArrayBuffer
  logFilter: string
  logFormat: LogFormat
  lookupFamily: LookupFamily
  identity: ProxyIdentity
  upstream: ConnectionDefaults
  /** Trust domains of the mesh; null without `config.mesh`. */
  mesh: MeshTrust | null
  /** Identifies this process in forwarded requests, to detect loops. */
  instance: string
  /** Lets a TLS session of one worker be resumed on another. */
  ticketSecret: Uint8Array
  /** The journals of the ledger, which workers write; null without `config.ledger`. */
  ledger: JournalSettings | null
  /** The server of budgets that gateways share; null without `config.stores.redis`. */
  redis: RedisSettings | null
  /** Several workers share each port. */
  reusePort: boolean
}

/** A generation goes live whole, or the worker stays as it is. */
export interface ConfigMessage {
  type: 'config'
  generation: number
  /** The whole config, as text for another thread, or the changes since the generation that the worker applied last. */
  config: { whole: IrText } | { ir: Ir } | { change: IrChange }
  /** The real ports by bind key, as the main thread picked them. */
  ports: Record<string, number>
  sessionKeys: readonly string[]
  /** Budgets by key that the config asks for. */
  tables: TableSet
  /** The memory of the request recorder; null when recording is off. */
  recorder: RecorderMemory | null
}

export type ToWorker =
  | ConfigMessage
  | { type: 'endpoints'; change: EndpointsChange }
  | { type: 'mesh'; state: MeshState }
  | { type: 'logFilter'; filter: string }
  /** Asks for the states of endpoints. */
  | { type: 'look'; id: number }
  /** Asks for the number of open requests. */
  | { type: 'count'; id: number }
  /** Asks whether the thread still handles messages. */
  | { type: 'ping'; id: number }
  | { type: 'cache'; id: number; command: CacheCommand }
  /** Closes each connection after its current request. */
  | { type: 'drain'; quietMs: number }
  | { type: 'stopListening' }
  /** Cuts the connections that are still open. */
  | { type: 'cut' }
  | { type: 'exit' }
  /** Sends an export request to the metrics collector. */
  | { type: 'export'; id: number; request: Uint8Array }
  | { type: 'mcp'; message: HubToWorker }
  | TraceToWorker

export type FromWorker =
  | { type: 'online' }
  /** The outcome of a config; one message for each config, in order. */
  | { type: 'applied'; error: string | null }
  | { type: 'series'; definitions: readonly SeriesDefinition[] }
  | { type: 'exemplar'; exemplar: Exemplar }
  /** An exception outside of any request: state that requests share may be damaged. */
  | { type: 'faulted' }
  /** The answer to `ping`. */
  | { type: 'alive'; id: number }
  /** Sent after `stopListening`, once no connection is open. */
  | { type: 'idle' }
  | { type: 'exported'; id: number; delivery: Delivery }
  | { type: 'looked'; id: number; states: readonly NamedState[] }
  /** Open requests by route key; an empty key for requests without a route so far. */
  | { type: 'counted'; id: number; open: ReadonlyMap<string, number> }
  | { type: 'cached'; id: number; answer: CacheCommandAnswer }
  | { type: 'mcp'; message: HubFromWorker }
  | LedgerMessage
  | TraceFromWorker
