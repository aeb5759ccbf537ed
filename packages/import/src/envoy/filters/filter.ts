import { directiveOf } from '../../chain/field-directive.ts'
import { closed } from '../../chain/replies.ts'
import type { Directive, Handler } from '../../chain/routes.ts'
import type { SecretVariables } from '../../core/secret-variables.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { Clusters } from '../clusters/clusters.ts'
import type { Services } from '../clusters/services.ts'

/** The context of the filters of one connection manager. */
export interface FilterContext {
  readonly clusters: Clusters
  readonly services: Services
  readonly variables: SecretVariables
  readonly port: number
  readonly isTls: boolean
  /** Whether Envoy takes the client's address from the connection and ignores `x-forwarded-for`. */
  readonly ignoresForwardedFor: boolean
  /** The upgrades that the connection manager allows (`true`) or forbids (`false`), by name in lower case. */
  readonly upgrades: ReadonlyMap<string, boolean>
}

/** A route, and the data that its filters need. */
export interface FilteredRoute {
  readonly directive: Directive
  /** The route, its virtual host and its route table, in this order. */
  readonly levels: readonly (Field | null)[]
  /** The `typed_per_filter_config` entries that were read; routes add to this set. */
  readonly usedConfigs: Set<Field>
  /** The cluster that gets all requests of the route; null when the route has several clusters or none. */
  readonly cluster: string | null
}

/** The config of a filter for one route; null when the route has no such config. */
export type RouteOverride = Field | null

/** Returns the handlers of a filter for a route. */
export type FilterEffect = (override: RouteOverride, route: FilteredRoute) => Handler[]

/** Reads the config of a filter once, and sets notes on its fields. */
export type FilterReader = (config: Field, context: FilterContext) => FilterEffect

/** Returns an effect that denies all requests, for a filter that may restrict access and cannot be imported. */
export function closing(config: Field, name: string, why: string): FilterEffect {
  config.notCarried(`${why}; requests get 403 until you configure a replacement`, true)
  const statement = { ...directiveOf(config, name), text: name }
  return () => [closed(statement)]
}

/** Returns the effect of a filter. The config of a route replaces the config of the filter. */
export function replaceable(config: Field, name: string, read: (config: Field) => Handler[] | string): FilterEffect {
  const known = new Map<Field, FilterEffect>()
  const effectOf = (field: Field): FilterEffect => {
    const found = read(field)
    return typeof found === 'string' ? closing(field, name, found) : () => found
  }
  const standard = effectOf(config)
  return (override, route) => {
    if (override === null) return standard(null, route)
    const found = known.get(override) ?? effectOf(override)
    known.set(override, found)
    return found(override, route)
  }
}
