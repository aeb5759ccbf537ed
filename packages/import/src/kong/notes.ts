import { markDefaults } from './entities.ts'
import type { Plugin } from './scopes.ts'
import type { Route } from './model.ts'
import type { Source } from './source.ts'
import type { Upstreams } from './upstreams.ts'

/** Sets notes on the fields of a route that do not take part in matching requests. */
export function markRoute({ entity, service }: Route): void {
  if (service !== null && !service.isEnabled) {
    entity.field.carried('the service of the route is disabled, so the route is left out')
    return
  }
  const get = entity.get.bind(entity)
  const names = (get('protocols')?.items ?? []).flatMap(({ text }) => text ?? [])
  const lost = names.filter((name) => !['http', 'https', 'grpc', 'grpcs', 'ws', 'wss'].includes(name))
  if (lost.length === 0) get('protocols')?.carried()
  else get('protocols')?.notCarried(`${lost.join(', ').slice(0, 40)}: configure TCP or TLS listeners: docs/tls.md`)
  for (const name of ['strip_path', 'preserve_host', 'path_handling']) get(name)?.carried()
  get('expression')?.notCarried('the importer does not read route expressions; all requests get 403', true)
  for (const name of ['sources', 'destinations']) get(name)?.notCarried('configure TCP listeners: docs/tls.md')
  markDefaults(get, {
    request_buffering: { value: true, otherwise: 'the gateway streams bodies instead of buffering them' },
    response_buffering: { value: true, otherwise: 'the gateway streams bodies instead of buffering them' },
  })
}

const SECTIONS: Readonly<Record<string, string>> = {
  ca_certificates: 'services refer to these certificates; write their texts to files',
  vaults: 'references to vaults become environment variables',
  key_sets: 'plugins that use key sets are not carried',
  keys: 'plugins that use key sets are not carried',
  partials: 'the importer does not read shared plugin configs',
  filter_chains: 'the gateway runs no WebAssembly filters',
  rbac_roles: "the gateway's admin API has no accounts",
  rbac_users: "the gateway's admin API has no accounts",
  service_packages: 'the section belongs to Konnect, which has no counterpart',
  licenses: 'the section sets up the process of Kong',
  custom_entities: 'custom entities have no counterpart',
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
    if (plugin.consumers !== null) field.notCarried('no imported route has a client that the plugin applies to', true)
    else if (plugins.some((other) => other !== plugin && isSameScope(other, plugin)))
      field.notCarried('another plugin has the same name and the same scope', true)
    else field.carried('more specific plugins apply to all routes of this plugin')
  }
  for (const service of services) {
    if (!service.isEnabled) service.entity.field.carried('the service is disabled, so its routes are left out')
    if (routes.some((route) => route.service === service)) continue
    service.entity.field.carried('the service has no route, so it is left out')
  }
  const hosts = services.map(({ entity }) => entity.get('host')?.text ?? hostOf(entity.get('url')?.text ?? ''))
  for (const { name, field } of upstreams.values())
    if (!hosts.includes(name)) field.carried('no service has this upstream as its host, so it is left out')
  const isUsed = (kind: string): boolean => [...used].some(({ name }) => name === kind)
  for (const [kind, collection] of CREDENTIALS_OF) {
    if (isUsed(kind)) continue
    for (const { credentials } of consumers)
      for (const each of credentials.get(collection) ?? [])
        each.carried(`no ${kind} plugin uses this credential, so it is left out`)
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
