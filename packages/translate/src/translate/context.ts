import type { ResourceChecks } from '@portico/gateway/checks'
import type { PemChecks } from '@portico/gateway/schema'
import type { Query as QueryOf, Read } from '../graph/graph.ts'
import type { Lookups } from '../resources/lookups.ts'

/** The argument of every query of translation. */
export interface Context extends Lookups {
  read: Read<Context>
  settings: TranslateSettings
  /** Whether the newest spec of a GwPolicy, by `namespace/name`, counts as in force during an attempt. */
  trial: QueryOf<Context, boolean>
}

export interface TranslateSettings {
  /** The controller name of our classes and of our statuses. */
  controllerName: string
  /** The domain of the cluster: Services are named `<name>.<namespace>.svc.<cluster domain>`. */
  clusterDomain: string
  /** Hosts that Services of type ExternalName and XBackends may name, such as `db.example.com` or `*.example.com`; none by default. */
  externalNames: readonly string[]
  /** How a Service without EndpointSlices is reached: not at all in a cluster, by DNS when resources come from files. */
  withoutSlices: 'unavailable' | 'dns'
  /** Whether `spec.verify` decides which spec of a GwPolicy is in force; without a controller, nothing runs its tests. */
  verify: 'required' | 'skipped'
  pem: PemChecks
  /** Compiles resources like data planes do. */
  checks: ResourceChecks
}

export type Query<Value> = QueryOf<Context, Value>
