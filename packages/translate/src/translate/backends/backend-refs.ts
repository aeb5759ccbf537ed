import type { Backend } from '@portico/gateway/ir'
import { GATEWAY_GROUP, groupByKind, type RouteKind } from '../../resources/kinds.ts'
import { type BackendReference, printReference } from '../../resources/references.ts'
import { ownBackend } from './backend.ts'
import type { Context } from '../context.ts'
import { isGranted } from '../grants.ts'
import type { Unusable } from '../materials.ts'
import { poolBackend } from './inference-pool.ts'
import { importBackend } from './service-import.ts'
import { serviceBackend } from './service.ts'
import { xBackend, type XBackendPlan } from './x-backend.ts'

/** A backend that a route refers to. */
export interface ResolvedBackend {
  backend: Backend
  /** Parts that are not served; the route reports them. */
  ignored?: string[]
  /** The HTTP version of a backend whose target has none. */
  version?: 'HTTP1' | 'HTTP2'
}

/**
 * Resolves a backend reference of a route, or returns why it cannot be used. The group of the referrer is that of routes,
 * unless it is given.
 */
export function resolveBackend(
  context: Context,
  from: { group?: string; kind: string; namespace: string },
  to: BackendReference,
): ResolvedBackend | Unusable {
  const isService = to.kind === 'Service' && to.group === ''
  const isOwn = to.kind === 'GwBackend' && to.group === groupByKind.GwBackend
  const isPool = to.kind === 'InferencePool' && to.group === groupByKind.InferencePool && isOfHttp(from)
  const isImport = to.kind === 'ServiceImport' && to.group === groupByKind.ServiceImport
  const isXBackend = to.kind === 'XBackend' && to.group === groupByKind.XBackend && isRouteOfXBackends(from)
  if (!isService && !isOwn && !isPool && !isImport && !isXBackend) {
    const kind = to.group === '' ? to.kind : `${to.kind}.${to.group}`
    return { reason: 'InvalidKind', message: `${kind} cannot be a backend` }
  }
  if (isXBackend && from.namespace !== to.namespace) {
    const message = `${printReference(to)} is in another namespace, and an XBackend serves only routes of its own`
    return { reason: 'RefNotPermitted', message }
  }
  if (!isGranted(context, { group: GATEWAY_GROUP, ...from }, to)) {
    const message = `${printReference(to)} is in another namespace, and no ReferenceGrant there allows ${pluralOf(from.kind)} of ${from.namespace} to use it`
    return { reason: 'RefNotPermitted', message }
  }
  if (isOwn) return context.read(ownBackend, `${to.namespace}/${to.name}`)
  if (isPool) return poolFor(from, context.read(poolBackend, `${to.namespace}/${to.name}`))
  if (isXBackend) return xBackendFor(from, to, context.read(xBackend, `${to.namespace}/${to.name}`))
  if (to.port === undefined) return { reason: 'UnsupportedValue', message: `${printReference(to)} needs a port` }
  const suffix = from.kind === 'UDPRoute' ? ':udp' : ''
  return context.read(isImport ? importBackend : serviceBackend, `${to.namespace}/${to.name}/${to.port}${suffix}`)
}

function pluralOf(kind: string): string {
  return kind.endsWith('Policy') ? `${kind.slice(0, -1)}ies` : `${kind}s`
}

/** Endpoint pickers see requests, so connections without HTTP have no use for pools. */
function isOfHttp({ kind }: { kind: string }): boolean {
  return kind === 'HTTPRoute' || kind === 'GRPCRoute'
}

/** Calls of gRPC need members that speak HTTP/2. */
function poolFor({ kind }: { kind: string }, found: ResolvedBackend | Unusable): ResolvedBackend | Unusable {
  if ('reason' in found || kind !== 'GRPCRoute') return found
  const { name, target } = found.backend
  if (target.kind !== 'inferencePool' || target.version === 'HTTP2') return found
  const message = `InferencePool ${name} speaks HTTP/1.1: a GRPCRoute needs \`appProtocol: kubernetes.io/h2c\``
  return { reason: 'UnsupportedProtocol', message }
}

/** XBackends have no UDP. */
export const routeKindsOfXBackends = ['HTTPRoute', 'GRPCRoute', 'TLSRoute', 'TCPRoute'] as const satisfies RouteKind[]

function isRouteOfXBackends({ kind }: { kind: string }): boolean {
  return (routeKindsOfXBackends as readonly string[]).includes(kind)
}

function xBackendFor(
  from: { kind: string },
  { namespace, name, port }: BackendReference,
  found: XBackendPlan | Unusable,
): ResolvedBackend | Unusable {
  const what = `XBackend ${namespace}/${name}`
  if ('reason' in found) {
    return found.reason === 'BackendNotFound' ? found : { reason: 'BackendError', message: `${what}: ${found.message}` }
  }
  const { backend, version, isRaw, notes, policies } = found
  const isHttp = isOfHttp(from)
  if (isHttp && isRaw) {
    return { reason: 'UnsupportedProtocol', message: `${what} has the protocol TCP: a ${from.kind} needs HTTP` }
  }
  if (from.kind === 'GRPCRoute' && version === 'HTTP1') {
    return { reason: 'UnsupportedProtocol', message: `${what} speaks HTTP/1.1: a GRPCRoute needs HTTP/2` }
  }
  const ignored = notes.map((note) => `${what}: ${note}`)
  const ownPort = 'port' in backend.target ? backend.target.port : port
  if (port !== undefined && port !== ownPort) ignored.push(`${what} has the port ${ownPort}: port ${port} was ignored`)
  if (!isHttp && policies.sessionPersistence !== undefined) {
    ignored.push(`${what}: spec.sessionPersistence does not apply to connections without HTTP`)
  }
  return { backend, ignored, ...(version !== null && { version }) }
}
