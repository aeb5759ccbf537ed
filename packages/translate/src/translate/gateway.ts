import { EMPTY_IR, exposeOauth } from '@portico/gateway/ir'
import type { AttachedPolicy, Backend, Bind, Ir, Listener } from '@portico/gateway/ir'
import { readGateway } from '../resources/gateway.ts'
import { GATEWAY_GROUP, routeKinds } from '../resources/kinds.ts'
import { backendTls } from './backend-tls-policy.ts'
import type { Context, Query } from './context.ts'
import { isOurGateway, listenerSetsOf, listenersOf, type ResolvedListener } from './listeners.ts'
import { certificateOf, type Unusable } from './materials.ts'
import { attachPolicies } from './policy.ts'
import { compare } from './precedence.ts'
import { attached } from './attached.ts'
import { type RouteResources, routeResources } from './route-resources.ts'
import { placeOfService, serviceEndpoints } from './service.ts'

/** What one Gateway is to run; null for those of other classes. */
export const gatewayConfig: Query<Ir | null> = {
  name: 'gatewayConfig',
  compute(context, key) {
    if (!context.read(isOurGateway, key)) return null
    const listeners = context.read(listenersOf, key).filter(({ state }) => state !== 'absent')
    if (listeners.length === 0) return EMPTY_IR
    const found = BUCKETS.flatMap((bucket) => context.read(resourcesInBucket, `${key} ${bucket}`))
    const resources = found.toSorted((one, other) => compare(one.age, other.age))
    const cut = new Set(listeners.flatMap((listener) => (listener.state === 'cut' ? listener.key : [])))
    const backends = new Map(resources.flatMap((part) => part.backends).map((backend) => [backend.key, backend]))
    const reached = attachPolicies(context, key, [...backends.values()])
    const secured = secureBackends(context, key, reached.backends)
    const ir: Ir = {
      binds: bindsOf(listeners),
      listeners: listeners.map(toListener),
      // Whoever asks for a listener that cannot be served is turned away, whatever routes there are.
      routes: resources.flatMap(({ routes }) =>
        cut.size === 0 ? routes : routes.filter(({ listener }) => !cut.has(listener)),
      ),
      backends: secured.backends,
      // Filters of a rule, and what stands in a backend, win over what targets them.
      policies: [...reached.policies, ...secured.policies, ...resources.flatMap(({ policies }) => policies)],
    }
    exposeOauth(ir)
    return ir
  },
}

/** Ids of the routes that name a Gateway, or one of its ListenerSets. */
export const routesOf: Query<string[]> = {
  name: 'routesOf',
  compute(context, key) {
    const parents = [`Gateway/${key}`, ...context.read(listenerSetsOf, key).map((set) => `ListenerSet/${set}`)]
    const ids = routeKinds.flatMap((kind) =>
      parents.flatMap((value) => context.keys(kind, { by: 'parent', value }).map((route) => `${kind}/${route}`)),
    )
    return [...new Set(ids)]
  },
}

/** Routes of a Gateway are put together in parts: of thousands a change looks at the few that share one with it. */
const BUCKETS: readonly number[] = Array.from({ length: 64 }, (_, index) => index)

const routesByBucket: Query<string[][]> = {
  name: 'routesByBucket',
  compute(context, key) {
    const buckets = BUCKETS.map((): string[] => [])
    for (const id of context.read(routesOf, key)) buckets[bucketOf(id)]?.push(id)
    return buckets
  },
}

/** By `namespace/name` of the Gateway, a space, and the bucket. */
const routesInBucket: Query<string[]> = {
  name: 'routesInBucket',
  compute(context, place) {
    const [key = '', bucket = ''] = place.split(' ')
    return context.read(routesByBucket, key)[Number(bucket)] ?? []
  },
}

const resourcesInBucket: Query<RouteResources[]> = {
  name: 'resourcesInBucket',
  compute(context, place) {
    const [key = ''] = place.split(' ')
    const found = context
      .read(routesInBucket, place)
      .flatMap((id) => context.read(routeResources, `${key} ${id}`) ?? [])
    return found.toSorted((one, other) => compare(one.age, other.age))
  },
}

function bucketOf(id: string): number {
  let hash = 0
  for (let index = 0; index < id.length; index++) hash = (hash * 31 + id.charCodeAt(index)) | 0
  return Math.abs(hash) % BUCKETS.length
}

/** Where the Services are reached that a Gateway leads to, by the keys of its backends. */
export const gatewayEndpoints: Query<Record<string, string[]> | null> = {
  name: 'gatewayEndpoints',
  compute(context, key) {
    if (!context.read(isOurGateway, key)) return null
    const services = context.read(servicesOf, key)
    return Object.fromEntries(
      services.map((place) => [`backend/service/${place}`, context.read(serviceEndpoints, place)]),
    )
  },
}

/** Apart, so that a change of a route that leaves them alone looks at no endpoint. */
const servicesOf: Query<string[]> = {
  name: 'servicesOf',
  compute(context, key) {
    const config = context.read(gatewayConfig, key)
    const services = (config?.backends ?? []).filter(({ target }) => target.kind === 'service')
    return services.flatMap((backend) => placeOfService(backend.key) ?? []).toSorted()
  },
}

/** The certificate that a Gateway shows to backends; null where it shows none. */
export const backendCertificate: Query<{ cert: string; key: string } | Unusable | null> = {
  name: 'backendCertificate',
  compute(context, key) {
    const resource = context.get('Gateway', key)
    if (resource === undefined) return null
    const { backendCertificate: reference, namespace } = readGateway(resource)
    if (reference === null) return null
    const found = certificateOf(context, { group: GATEWAY_GROUP, kind: 'Gateway', namespace }, reference)
    if (!('reason' in found) || found.reason === 'RefNotPermitted') return found
    return { ...found, reason: 'InvalidClientCertificateRef' }
  },
}

/** Services that a BackendTLSPolicy speaks of, with what it asks for. */
function secureBackends(
  context: Context,
  gateway: string,
  backends: readonly Backend[],
): { backends: Backend[]; policies: AttachedPolicy[] } {
  const policies: AttachedPolicy[] = []
  const own = context.read(backendCertificate, gateway)
  const secured = backends.map((backend): Backend => {
    const place = placeOfService(backend.key)
    const tls = place === null ? null : context.read(backendTls, place)
    if (tls === null) return backend
    const problem = 'reason' in tls ? tls : own !== null && 'reason' in own ? own : null
    if (problem !== null || 'reason' in tls) {
      return { ...backend, target: { kind: 'invalid', reason: problem?.message ?? '' } }
    }
    const certificate = own === null || 'reason' in own ? {} : { mtlsCertificateRef: own }
    policies.push(attached({ kind: 'backend', key: backend.key }, { backend: { tls: { ...tls.tls, ...certificate } } }))
    return backend
  })
  return { backends: secured, policies }
}

function bindsOf(listeners: readonly ResolvedListener[]): Bind[] {
  const ports = new Set(listeners.map(({ port }) => port))
  return [...ports].toSorted((one, other) => one - other).map((port) => ({ key: `bind/${port}`, port, address: '' }))
}

function toListener({ key, port, name, hostname, protocol, tls, state, parent }: ResolvedListener): Listener {
  // Server names lead there, and nothing leads on.
  const isCut = state === 'cut'
  return {
    key,
    bind: `bind/${port}`,
    name,
    hostname,
    protocol: isCut || protocol === null ? 'TLS' : protocol,
    tls: isCut ? null : tls,
    ...(parent.kind === 'ListenerSet' && { set: `listenerSet/${parent.key}` }),
  }
}
