import type { Field } from '../core/yaml-field.ts'
import type { Consumer } from './consumers.ts'
import { Entity, referenceOf, textsOf } from './entities.ts'
import type { Route, Service } from './model.ts'

/** A plugin with its scope: the requests that it applies to. */
export interface Plugin {
  readonly name: string
  readonly entity: Entity
  readonly config: PluginConfig
  readonly isEnabled: boolean
  readonly service: Service | null
  readonly route: Route | null
  /** The consumers that the plugin applies to; null for all clients, with or without a consumer. */
  readonly consumers: readonly Consumer[] | null
  readonly isOfGroup: boolean
  /** Whether the plugin applies to requests on ports without TLS (`isForHttp`), and on ports with TLS (`isForTls`). */
  readonly isForHttp: boolean
  readonly isForTls: boolean
}

/** The `config` of a plugin. Absent fields are taken from the shared config that the plugin names. */
class PluginConfig {
  readonly field: Field
  readonly #own: Field | null
  readonly #shared: Field | null

  constructor(plugin: Field, shared: Field | null) {
    this.#own = plugin.get('config')
    this.#shared = shared
    this.field = this.#own ?? plugin
  }

  get(name: string): Field | null {
    return this.#own?.get(name) ?? this.#shared?.get(name) ?? null
  }

  /** Returns the first field that exists among several names. Newer versions of Kong have renamed some fields. */
  first(...names: readonly string[]): Field | null {
    return names.map((name) => this.get(name)).find((each) => each !== null) ?? null
  }

  get members(): readonly (readonly [string, Field])[] {
    return [...(this.#own?.members ?? []), ...(this.#shared?.members ?? [])]
  }
}

interface Owners {
  readonly services: readonly Service[]
  readonly routes: readonly Route[]
  readonly consumers: readonly Consumer[]
}

interface Scope {
  readonly service: Service | null
  readonly route: Route | null
  readonly consumers: readonly Consumer[] | null
  readonly isOfGroup: boolean
}

const GLOBAL: Scope = { service: null, route: null, consumers: null, isOfGroup: false }

export function readPlugins(roots: readonly Field[], owners: Owners): Plugin[] {
  const shared = new Map(roots.flatMap((root) => root.get('_plugin_configs')?.members ?? []))
  const nested = (field: Field, scope: Scope): Plugin[] =>
    (field.get('plugins')?.items ?? []).flatMap((each) => readPlugin(each, { scope, owners, shared }) ?? [])
  return [
    ...owners.routes.flatMap((route) => nested(route.entity.field, { ...GLOBAL, route })),
    ...owners.services.flatMap((service) => nested(service.entity.field, { ...GLOBAL, service })),
    ...owners.consumers.flatMap((consumer) => nested(consumer.field, { ...GLOBAL, consumers: [consumer] })),
    ...roots.flatMap((root) =>
      (root.get('consumer_groups')?.items ?? []).flatMap((group) =>
        nested(group, { ...GLOBAL, consumers: membersOf(group.get('name'), owners), isOfGroup: true }),
      ),
    ),
    ...roots.flatMap((root) => nested(root, GLOBAL)),
  ]
}

function membersOf(group: Field | null, { consumers }: Owners): Consumer[] {
  return consumers.filter(({ consumerGroups }) => consumerGroups.includes(group?.text ?? ''))
}

function readPlugin(
  field: Field,
  { scope, owners, shared }: { scope: Scope; owners: Owners; shared: ReadonlyMap<string, Field> },
): Plugin | null {
  const entity = new Entity(field, null)
  entity.markLabels()
  const name = field.get('name')?.text ?? ''
  if (!entity.isEnabled) {
    field.carried('the plugin is disabled, so it is left out')
    return null
  }
  field.get('enabled')?.carried()
  const found = referencedScope(field, scope, owners)
  if (found === null) return null
  const reference = field.get('_config')
  if (reference !== null) {
    if (shared.has(reference.text ?? '')) reference.carried()
    else reference.notCarried('no file has the shared config with this name', true)
  }
  field.get('ordering')?.notCarried('the gateway runs policies in a fixed order: docs/policies.md')
  const protocols = field.get('protocols')
  protocols?.carried()
  const names = textsOf(protocols)
  const isFor = (...some: readonly string[]): boolean => names.length === 0 || names.some((each) => some.includes(each))
  return {
    ...{ name, entity, isEnabled: true, ...found },
    config: new PluginConfig(field, shared.get(reference?.text ?? '') ?? null),
    isForHttp: isFor('http', 'grpc', 'ws'),
    isForTls: isFor('https', 'grpcs', 'wss'),
  }
}

/**
 * Returns the scope that the references of a plugin define; null when a reference names nothing in the files. Kong
 * rejects such a plugin.
 */
function referencedScope(field: Field, scope: Scope, { services, routes, consumers }: Owners): Scope | null {
  const [service, route, consumer, group] = ['service', 'route', 'consumer', 'consumer_group'].map((name) =>
    field.get(name),
  )
  const find = <Item extends { names: readonly string[] }>(list: readonly Item[], at: Field | null | undefined) =>
    list.find(({ names }) => names.includes(referenceOf(at ?? null) ?? ''))
  const client = consumers.find(
    ({ name, field: each }) =>
      consumer != null &&
      [name, each.get('id')?.text].includes(referenceOf(consumer) ?? consumer.get('username')?.text ?? ''),
  )
  const found: [Field | null | undefined, unknown][] = [
    [service, find(services, service)],
    [route, find(routes, route)],
    [consumer, client],
  ]
  const lost = found.filter(([at, target]) => at != null && target === undefined)
  for (const [at] of found) at?.carried()
  group?.carried()
  if (lost.length > 0) {
    field.notCarried(
      `no file has the ${lost.map(([at]) => at?.path.split('.').at(-1)).join(' and ')} that the plugin names`,
      true,
    )
    return null
  }
  const members =
    group == null ? null : consumers.filter(({ consumerGroups }) => consumerGroups.includes(referenceOf(group) ?? ''))
  return {
    service: find(services, service) ?? scope.service,
    route: find(routes, route) ?? scope.route,
    consumers: client === undefined ? (members ?? scope.consumers) : [client],
    isOfGroup: members !== null || scope.isOfGroup,
  }
}

/**
 * Returns the rank of a plugin by its scope. Kong runs only the plugin with the smallest rank of several plugins with
 * one name.
 */
export function rankOf({ service, route, consumers, isOfGroup }: Plugin): number {
  const key = `${consumers === null ? '' : isOfGroup ? 'g' : 'c'}${route === null ? '' : 'r'}${service === null ? '' : 's'}`
  return ['crs', 'grs', 'cr', 'cs', 'gr', 'gs', 'rs', 'c', 'g', 'r', 's', ''].indexOf(key)
}
