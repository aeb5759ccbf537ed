import { dynamicForwardProxyBackend } from './backends/dynamic-forward-proxy/call.ts'
import { staticBackend } from './backends/static/call.ts'
import type { PolicyIndex } from './ir/merge.ts'
import type { Backend, Route, RouteBackend } from './ir/resources.ts'
import type { CompiledBackend } from './pipeline/compiled.ts'
import { applyHttp } from './policies/backend/http/settings.ts'
import { applyTcp } from './policies/backend/tcp/settings.ts'
import { applyTls } from './policies/backend/tls/settings.ts'
import type { BackendPolicies } from './policies/index.ts'
import { type AddressGuard, createAddressGuard } from './upstream/address-guard.ts'
import type { Resolver } from './upstream/dns.ts'
import type { Pools } from './upstream/pools.ts'
import { type ConnectionDefaults, type ConnectionSettings, defaultSettings } from './upstream/settings.ts'

export interface BackendServices {
  resolver: Resolver
  pools: Pools
  upstream: ConnectionDefaults
}

/** Backends by where they are used: the policies of the place count too. */
export interface Backends {
  forRoute(route: Route, entry: RouteBackend): CompiledBackend
  /** A backend that a policy names, with its own policies only. */
  named(key: string): CompiledBackend
}

export function compileBackends(
  backendsByKey: ReadonlyMap<string, Backend>,
  policies: PolicyIndex,
  services: BackendServices,
): Backends {
  return {
    forRoute: (route, entry) =>
      compileBackend(
        backendsByKey.get(entry.backend)!,
        policies.backend({ listener: route.listener, route: route.key, backend: entry.backend, entry: entry.key }),
        services,
      ),
    named: (key) =>
      compileBackend(
        backendsByKey.get(key)!,
        policies.backend({ listener: '', route: '', backend: key, entry: key }),
        services,
      ),
  }
}

function compileBackend(backend: Backend, policies: BackendPolicies, services: BackendServices): CompiledBackend {
  const identity = { key: backend.key, name: backend.name }
  const settings = settingsOf(policies, services.upstream)
  const { resolver, pools } = services
  const target = backend.target
  switch (target.kind) {
    case 'static':
      return staticBackend(identity, {
        address: { host: target.host, port: target.port },
        settings,
        guard: null,
        resolver,
        pools,
      })
    case 'unix':
      return staticBackend(identity, { address: { path: target.path }, settings, guard: null, resolver, pools })
    case 'dynamicForwardProxy':
      return dynamicForwardProxyBackend(identity, { settings, guard: guardOf(target), resolver, pools })
  }
}

function guardOf(target: { allowCidrs: string[]; ports: number[] }): AddressGuard {
  // The config may name one address where a range is meant.
  const asRange = (text: string): string => (text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`)
  return createAddressGuard({ allowCidrs: target.allowCidrs.map(asRange), ports: target.ports })
}

const applyByName: {
  [Name in keyof BackendPolicies]-?: (settings: ConnectionSettings, config: NonNullable<BackendPolicies[Name]>) => void
} = {
  tcp: applyTcp,
  tls: applyTls,
  http: applyHttp,
}

function settingsOf(policies: BackendPolicies, defaults: ConnectionDefaults): ConnectionSettings {
  const settings = defaultSettings(defaults)
  for (const name of Object.keys(applyByName) as (keyof BackendPolicies)[]) applyOne(name, policies, settings)
  return settings
}

function applyOne(name: keyof BackendPolicies, policies: BackendPolicies, settings: ConnectionSettings): void {
  const config = policies[name]
  if (config === undefined) return
  const apply = applyByName[name] as (settings: ConnectionSettings, config: unknown) => void
  apply(settings, config)
}
