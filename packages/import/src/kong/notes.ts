import { markDefaults } from './entities.ts'
import type { Plugin } from './scopes.ts'
import type { Route } from './model.ts'
import type { Source } from './source.ts'
import type { Upstreams } from './upstreams.ts'

/** Sets notes on the fields of a route that do not take part in matching requests. */
export function markRoute({ entity, service }: Route): void {
  if (service !== null && !service.isEnabled) {
    entity.field.carried('its service is disabled, so it is left out')
    return
  }
  const get = entity.get.bind(entity)
  const names = (get('protocols')?.items ?? []).flatMap(({ text }) => text ?? [])
  const lost = names.filter((name) => !['http', 'https', 'grpc', 'grpcs', 'ws', 'wss'].includes(name))
  if (lost.length === 0) get('protocols')?.carried()
  else get('protocols')?.notCarried(`${lost.join(', ').slice(0, 40)}: write TCP or TLS listeners: docs/tls.md`)
  for (const name of ['strip_path', 'preserve_host', 'path_handling']) get(name)?.carried()
  get('expression')?.notCarried('expressions of routes are not read: all requests get 403', true)
  for (const name of ['sources', 'destinations']) get(name)?.notCarried('write TCP listeners: docs/tls.md')
  markDefaults(get, {
    request_buffering: { value: true, otherwise: 'bodies stream' },
    response_buffering: { value: true, otherwise: 'bodies stream' },
  })
}

const SECTIONS: Readonly<Record<string, string>> = {
  ca_certificates: 'services name them: write their texts to files',
  vaults: 'references become variables of the environment',
  key_sets: 'the plugins that use them are not carried',
  keys: 'the plugins that use them are not carried',
  partials: 'shared parts of plugins are not carried',
  filter_chains: 'filters in WebAssembly are not available',
  rbac_roles: 'accounts of the Admin API have no counterpart',
  rbac_users: 'accounts of the Admin API have no counterpart',
  service_packages: 'a part of Konnect',
  licenses: 'a setting of the process of Kong',
  custom_entities: 'entities of plugins of your own',
}

/** Sets notes on plugins, services and other entities that no imported route uses. */
export function noteUnused(
  { roots, plugins, services, routes, consumers }: Source,
  used: ReadonlySet<Plugin>,
  upstreams: Upstreams,
): void {
  for (const plugin of plugins) {
    if (used.has(plugin)) continue
    const { field } = plugin.entity
    if (plugin.consumers !== null) field.notCarried('no consumer has it, or no route that it applies to', true)
    else if (plugins.some((other) => other !== plugin && isSameScope(other, plugin)))
      field.notCarried('another plugin has this name and this scope', true)
    else field.carried('more specific plugins apply to all of its routes')
  }
  for (const service of services) {
    if (!service.isEnabled) service.entity.field.carried('disabled, so its routes are left out')
    if (routes.some((route) => route.service === service)) continue
    service.entity.field.carried('it has no route, so it is left out')
  }
  const hosts = services.map(({ entity }) => entity.get('host')?.text ?? hostOf(entity.get('url')?.text ?? ''))
  for (const { name, field } of upstreams.values())
    if (!hosts.includes(name)) field.carried('no service has it as its host, so it is left out')
  const isUsed = (kind: string): boolean => [...used].some(({ name }) => name === kind)
  for (const [kind, collection] of CREDENTIALS_OF) {
    if (isUsed(kind)) continue
    for (const { credentials } of consumers)
      for (const each of credentials.get(collection) ?? []) each.carried(`no ${kind} plugin uses it, so it is left out`)
  }
  for (const root of roots) for (const [name, note] of Object.entries(SECTIONS)) root.get(name)?.notCarried(note)
}

function isSameScope(one: Plugin, other: Plugin): boolean {
  return (
    one.name === other.name &&
    one.service === other.service &&
    one.route === other.route &&
    one.consumers === other.consumers
  )
}

const CREDENTIALS_OF = [
  ['key-auth', 'keyauth_credentials'],
  ['basic-auth', 'basicauth_credentials'],
  ['jwt', 'jwt_secrets'],
] as const

function hostOf(url: string): string {
  return /^\w+:\/\/([^/?#:]+)/.exec(url)?.[1] ?? ''
}
