import type { ResourceChecks } from '@portico/gateway/checks'
import type { PemChecks } from '@portico/gateway/schema'
import type { Query as QueryOf, Read } from '../graph/graph.ts'
import type { Lookups } from '../resources/lookups.ts'

/** The argument of every query of translation. */
export interface Context extends Lookups {
  read: Read<Context>
  settings: TranslateSettings
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
  pem: PemChecks
  /** Compiles resources like data planes do. */
  checks: ResourceChecks
}

export type Query<Value> = QueryOf<Context, Value>
