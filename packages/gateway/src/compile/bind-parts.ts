import type { MeshIdentity } from '../mesh/identity.ts'
import type { Bind, Listener } from '../ir/resources.ts'
import type { ConnectionInfo, Deadlines, Hops } from '@portico/http'
import type { ShadowOutcome } from '../records/shadow-outcome.ts'
import type { StreamPort } from '../pipeline/run/serve-tunnel.ts'
import type { BindState, HandshakePasses } from '@portico/http/server'
import type { Judge } from '../pipeline/policy/authorization.ts'
import type { CompiledListener } from '../pipeline/compiled/compiled.ts'
import type { RequestLedger, RunTelemetry } from '../pipeline/run/run-services.ts'
import type { ShapeKeepalive } from '../pipeline/run/shape-keepalive.ts'
import type { ProxyIdentity } from '../pipeline/context/proxy-identity.ts'
import type { Containment } from '../pipeline/compiled/containment.ts'
import type { FrontendPolicies } from '../policies/index.ts'
import type { WorkerIndex } from '../state/connection-count.ts'
import type { SharedCounters } from '@portico/http/client'
import type { WorkerCache } from '../state/worker-cache.ts'
import type { Logger } from '../telemetry/log/logger.ts'

export interface BindServices {
  deadlines: Deadlines
  random: () => number
  now: () => number
  identity: ProxyIdentity
  httpDate: () => string
  hops: Hops
  handshakes: HandshakePasses
  shapeKeepalive: ShapeKeepalive
  /** The ledger of model calls; null without `config.ledger`. */
  ledger: RequestLedger | null
  log: Logger
  ticketSecret: Buffer
  counters: SharedCounters
  monotonic: () => number
  kept: WorkerCache
  seat: WorkerIndex
  containment: Containment
  /** The identity in the mesh, for HBONE listeners. */
  mesh: MeshIdentity
  /** The port of this worker that a tunnel leads to; null when this gateway has no such port. */
  streamPort: (port: number) => StreamPort | null
}

export interface BindParts {
  bind: Bind
  sources: Listener[]
  listeners: CompiledListener[]
  frontend: FrontendPolicies
  /** Decides whether a new connection may proceed; null admits every connection. */
  network: Judge<Parameters<BindState<string>['onRefused']>[0]> | null
  /** Returns the outcome of the shadow `networkAuthorization` for a connection; null when the policy has no shadow. */
  networkShadow: ((info: ConnectionInfo) => ShadowOutcome) | null
  telemetry: RunTelemetry
}
