import type { Backend } from '@portico/gateway/ir'
import { GATEWAY_GROUP, groupByKind } from '../../resources/kinds.ts'
import { type BackendReference, printReference } from '../../resources/references.ts'
import { ownBackend } from './backend.ts'
import type { Context } from '../context.ts'
import { isGranted } from '../grants.ts'
import type { Unusable } from '../materials.ts'
import { poolBackend } from './inference-pool.ts'
import { importBackend } from './service-import.ts'
import { serviceBackend } from './service.ts'

/** Resolves a backend reference of a route, or returns why it cannot be used. */
export function resolveBackend(
  context: Context,
  from: { kind: string; namespace: string },
  to: BackendReference,
): { backend: Backend; ignored?: string[] } | Unusable {
  const isService = to.kind === 'Service' && to.group === ''
  const isOwn = to.kind === 'GwBackend' && to.group === groupByKind.GwBackend
  const isPool = to.kind === 'InferencePool' && to.group === groupByKind.InferencePool && isOfHttp(from)
  const isImport = to.kind === 'ServiceImport' && to.group === groupByKind.ServiceImport
  if (!isService && !isOwn && !isPool && !isImport) {
    const kind = to.group === '' ? to.kind : `${to.kind}.${to.group}`
    return { reason: 'InvalidKind', message: `${kind} cannot be a backend` }
  }
  if (!isGranted(context, { group: GATEWAY_GROUP, ...from }, to)) {
    const message = `${printReference(to)} is in another namespace, and no ReferenceGrant there allows ${from.kind}s of ${from.namespace} to use it`
    return { reason: 'RefNotPermitted', message }
  }
  if (isOwn) return context.read(ownBackend, `${to.namespace}/${to.name}`)
  if (isPool) return poolFor(from, context.read(poolBackend, `${to.namespace}/${to.name}`))
  if (to.port === undefined) return { reason: 'UnsupportedValue', message: `${printReference(to)} needs a port` }
  const suffix = from.kind === 'UDPRoute' ? ':udp' : ''
  return context.read(isImport ? importBackend : serviceBackend, `${to.namespace}/${to.name}/${to.port}${suffix}`)
}

/** Endpoint pickers see requests, so connections without HTTP have no use for pools. */
function isOfHttp({ kind }: { kind: string }): boolean {
  return kind === 'HTTPRoute' || kind === 'GRPCRoute'
}

/** Calls of gRPC need members that speak HTTP/2. */
function poolFor(
  { kind }: { kind: string },
  found: { backend: Backend; ignored?: string[] } | Unusable,
): { backend: Backend; ignored?: string[] } | Unusable {
  if ('reason' in found || kind !== 'GRPCRoute') return found
  const { name, target } = found.backend
  if (target.kind !== 'inferencePool' || target.version === 'HTTP2') return found
  const message = `InferencePool ${name} speaks HTTP/1.1: a GRPCRoute needs \`appProtocol: kubernetes.io/h2c\``
  return { reason: 'UnsupportedProtocol', message }
}
