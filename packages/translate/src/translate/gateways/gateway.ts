import { EMPTY_IR, exposeOauth } from '@portico/gateway/ir'
import type { Bind, Ir, Listener } from '@portico/gateway/ir'
import type { Query } from '../context.ts'
import { toAttachedPolicy } from '../to-attached-policy.ts'
import { gatewayBackends } from './gateway-backends.ts'
import { bindKey, isOurGateway, listenersOf, type ResolvedListener } from '../listeners/listeners.ts'
import { listenerModels } from '../routes/model-routes.ts'
import { inOrder, resourcesInBucket } from '../routes/route-buckets.ts'
import { meshPoolMembers, placeOfPool, poolMembers } from '../backends/inference-pool.ts'
import { inheritPolicies } from './inherited-policies.ts'
import { gatewayMesh } from './gateway-mesh.ts'
import { importEndpoints, meshImportEndpoints, placeOfImport } from '../backends/service-import.ts'
import { meshEndpoints, placeOfService, serviceEndpoints } from '../backends/service.ts'
import { meshXBackendEndpoints, placeOfXBackend, xBackendEndpoints } from '../backends/x-backend.ts'

/** The config of one Gateway; null for Gateways of other classes. */
export const gatewayConfig: Query<Ir | null> = {
  name: 'gatewayConfig',
  compute(context, key) {
    if (!context.read(isOurGateway, key)) return null
    const listeners = context.read(listenersOf, key).filter(({ state }) => state !== 'absent')
    if (listeners.length === 0) return EMPTY_IR
    const parts = inOrder(context, key, resourcesInBucket)
    const cut = new Set(listeners.flatMap((listener) => (listener.state === 'cut' ? listener.key : [])))
    const { backends, policies } = context.read(gatewayBackends, key)
    const ir: Ir = {
      binds: bindsOf(listeners),
      listeners: listeners.map(toListener),
      routes: [],
      backends: [...backends],
      policies: [],
    }
    // Filters of a listener or a rule and inline policies of a backend win over policies that target them.
    ir.policies.push(...policies)
    for (const { key: listener, filters } of listeners) {
      if (filters.traffic === null) continue
      ir.policies.push(
        toAttachedPolicy({ kind: 'listener', key: listener }, { traffic: filters.traffic, phase: 'PreRouting' }),
      )
    }
    for (const part of parts) {
      // Requests for a listener that cannot be served are rejected, whatever routes there are.
      for (const route of part.routes) if (!cut.has(route.listener)) ir.routes.push(route)
      for (const policy of part.policies) ir.policies.push(policy)
    }
    ir.routes.push(...context.read(listenerModels, key).routes.filter(({ listener }) => !cut.has(listener)))
    inheritPolicies(ir)
    exposeOauth(ir)
    return ir
  },
}

/** Addresses of the Services, ServiceImports, InferencePools and XBackends of a Gateway, by the keys of its backends. */
export const gatewayEndpoints: Query<Record<string, string[]> | null> = {
  name: 'gatewayEndpoints',
  compute(context, key) {
    if (!context.read(isOurGateway, key)) return null
    const trustDomain = context.read(gatewayMesh, key)
    const addresses = (backend: string): string[] => {
      const pool = placeOfPool(backend)
      const imported = placeOfImport(backend)
      const selected = placeOfXBackend(backend)
      const [plain, inMesh] =
        pool !== null
          ? [poolMembers, meshPoolMembers]
          : imported !== null
            ? [importEndpoints, meshImportEndpoints]
            : selected !== null
              ? [xBackendEndpoints, meshXBackendEndpoints]
              : [serviceEndpoints, meshEndpoints]
      const place = pool ?? imported ?? selected ?? placeOfService(backend) ?? ''
      return trustDomain === null ? context.read(plain, place) : context.read(inMesh, `${trustDomain} ${place}`)
    }
    return Object.fromEntries(context.read(addressedBackends, key).map((backend) => [backend, addresses(backend)]))
  },
}

/**
 * The keys of backends whose addresses come separately from the config. A separate query, so that a route change that
 * keeps its Services does not read endpoints.
 */
const addressedBackends: Query<string[]> = {
  name: 'addressedBackends',
  compute(context, key) {
    if (context.read(listenersOf, key).every(({ state }) => state === 'absent')) return []
    return context
      .read(gatewayBackends, key)
      .backends.filter(({ target }) => target.kind === 'service' || target.kind === 'inferencePool')
      .map((backend) => backend.key)
      .toSorted()
  },
}

function bindsOf(listeners: readonly ResolvedListener[]): Bind[] {
  const byKey = new Map<string, Bind>()
  for (const { port, protocol } of listeners) {
    const key = bindKey(protocol, port)
    byKey.set(key, { key, port, address: '', ...(protocol === 'UDP' && { transport: 'udp' }) })
  }
  return [...byKey.values()].toSorted((one, other) => one.port - other.port || (one.key < other.key ? -1 : 1))
}

function toListener({ key, port, name, hostname, protocol, tls, state, parent }: ResolvedListener): Listener {
  // Server names select this listener, but it has no routes.
  const isCut = state === 'cut'
  return {
    key,
    bind: bindKey(protocol, port),
    name,
    hostname,
    protocol: isCut || protocol === null ? 'TLS' : protocol,
    tls: isCut ? null : tls,
    ...(parent.kind !== 'Gateway' && { set: `listenerSet/${parent.key}` }),
  }
}
