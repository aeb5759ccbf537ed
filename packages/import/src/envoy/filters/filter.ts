import { directiveOf } from '../../chain/field-directive.ts'
import { closed } from '../../chain/replies.ts'
import type { Directive, Handler } from '../../chain/routes.ts'
import type { SecretVariables } from '../../core/secret-variables.ts'
import type { Field } from '../../core/yaml-field.ts'
import type { Clusters } from '../clusters/clusters.ts'
import type { Services } from '../clusters/services.ts'

/** The surroundings of the filters of one connection manager. */
export interface FilterContext {
  readonly clusters: Clusters
  readonly services: Services
  readonly variables: SecretVariables
  readonly port: number
  readonly isTls: boolean
  /** Whether the address of a client is that of its connection, whatever x-forwarded-for says. */
  readonly ignoresForwardedFor: boolean
  /** The upgrades that the connection manager allows or forbids, in lower case. */
  readonly upgrades: ReadonlyMap<string, boolean>
}

/** A route with what filters read of it. */
export interface FilteredRoute {
  readonly directive: Directive
  /** The route, its virtual host and its route table. */
  readonly levels: readonly (Field | null)[]
  /** The configs for routes that were read. */
  readonly usedConfigs: Set<Field>
  /** The cluster of all of its requests; null when there are several or none. */
  readonly cluster: string | null
}

/** The config of a filter for one route; null when the route has none. */
export type RouteOverride = Field | null

/** The handlers of a filter for a route. */
export type FilterEffect = (override: RouteOverride, route: FilteredRoute) => Handler[]

/** Reads the config of a filter once, and marks its fields. */
export type FilterReader = (config: Field, context: FilterContext) => FilterEffect

/** Denies all requests of a filter that may protect and that cannot be imported. */
export function closing(config: Field, name: string, why: string): FilterEffect {
  config.notCarried(`${why}; requests get 403 until you replace it`, true)
  const statement = { ...directiveOf(config, name), text: name }
  return () => [closed(statement)]
}

/** The effect of a filter whose config for a route replaces the one for all. */
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
