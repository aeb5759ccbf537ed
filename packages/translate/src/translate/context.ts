import type { ResourceChecks } from '@portico/gateway/checks'
import type { PemChecks } from '@portico/gateway/schema'
import type { Query as QueryOf, Read } from '../graph/graph.ts'
import type { Lookups } from '../resources/lookups.ts'

/** What every query of translation gets. */
export interface Context extends Lookups {
  read: Read<Context>
  settings: TranslateSettings
}

export interface TranslateSettings {
  /** Classes that name it are ours, and statuses bear it. */
  controllerName: string
  /** Where Services of the cluster have their names: `<name>.<namespace>.svc.<cluster domain>`. */
  clusterDomain: string
  /** Where a Service without EndpointSlices is looked for: nowhere in a cluster, by its name where files say what there is. */
  withoutSlices: 'unavailable' | 'dns'
  pem: PemChecks
  /** Compile resources as data planes do. */
  checks: ResourceChecks
}

export type Query<Value> = QueryOf<Context, Value>
