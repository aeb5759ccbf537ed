import type { IrChange } from '../../ir/change.ts'
import type { IrText } from '../../ir/ir-text.ts'
import type { HubFromWorker, HubToWorker } from '../../mcp/hub/hub-messages.ts'
import type { ConnectionDefaults, EndpointsChange, LookupFamily, NamedState } from '@portico/http/client'
import type { ProxyIdentity } from '../../pipeline/context/proxy-identity.ts'
import type { TableSet } from '../../state/keyed-tables.ts'
import type { Seat } from '../../state/connection-count.ts'
import type { Exemplar } from '../../telemetry/metrics/exemplars.ts'
import type { SeriesDefinition } from '../../telemetry/metrics/metrics.ts'
import type { Delivery } from '../../telemetry/otlp/retrying-sender.ts'
import type { LogFormat } from '../../telemetry/log/logger.ts'
import type { RecorderMemory } from '../../telemetry/recorder/recorder.ts'
import type { TraceFromWorker, TraceToWorker } from '../../telemetry/trace/trace-event.ts'

/** The settings of a worker, fixed for its lifetime. */
export interface WorkerSettings {
  /** Never used twice in a process. */
  number: number
  /** `worker-<number>`: its name in logs and metrics. */
  name: string
  /** Which of the places of workers it takes, and how many there are. */
  seat: Seat
  region: SharedArrayBuffer
  /** The table of what all workers count together. */
  counters: SharedArrayBuffer
  /** The shared table of trace watchers. */
  traces: SharedArrayBuffer
  logFilter: string
  logFormat: LogFormat
  lookupFamily: LookupFamily
  identity: ProxyIdentity
  upstream: ConnectionDefaults
  /** Names the process on requests that leave, so that loops are found. */
  instance: string
  /** Lets a TLS session of one worker be resumed on another. */
  ticketSecret: Uint8Array
  /** Several workers share each port. */
  reusePort: boolean
}

/** A generation goes live whole, or the worker stays as it is. */
export interface ConfigMessage {
  type: 'config'
  generation: number
  /** Everything, or what makes it of the last generation that the worker took. */
  config: { whole: IrText } | { change: IrChange }
  /** The real ones, by bind key: the main thread has picked them. */
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
  | { type: 'logFilter'; filter: string }
  /** Asks how endpoints do. */
  | { type: 'look'; id: number }
  /** Asks what is under way. */
  | { type: 'count'; id: number }
  /** Asks whether the thread still takes messages. */
  | { type: 'ping'; id: number }
  /** Connections end after what they are doing. */
  | { type: 'drain'; quietMs: number }
  | { type: 'stopListening' }
  /** Ends what is still open. */
  | { type: 'cut' }
  | { type: 'exit' }
  /** Brings a request to the collector of metrics. */
  | { type: 'export'; id: number; request: Uint8Array }
  | { type: 'mcp'; message: HubToWorker }
  | TraceToWorker

export type FromWorker =
  | { type: 'online' }
  /** One for each config, in the order they came. */
  | { type: 'applied'; error: string | null }
  | { type: 'series'; definitions: readonly SeriesDefinition[] }
  | { type: 'exemplar'; exemplar: Exemplar }
  /** An exception that belongs to no request: what requests share may be damaged. */
  | { type: 'faulted' }
  /** The answer to `ping`. */
  | { type: 'alive'; id: number }
  /** Said after `stopListening`, once nothing is open. */
  | { type: 'idle' }
  | { type: 'exported'; id: number; delivery: Delivery }
  | { type: 'looked'; id: number; states: readonly NamedState[] }
  /** By the keys of routes; empty for what has none yet. */
  | { type: 'counted'; id: number; open: ReadonlyMap<string, number> }
  | { type: 'mcp'; message: HubFromWorker }
  | TraceFromWorker
