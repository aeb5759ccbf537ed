import type { Backend } from '@portico/gateway/ir'
import { GATEWAY_GROUP, groupByKind } from '../../resources/kinds.ts'
import { type BackendReference, printReference } from '../../resources/references.ts'
import { ownBackend } from './backend.ts'
import type { Context } from '../context.ts'
import { isGranted } from '../grants.ts'
import type { Unusable } from '../materials.ts'
import { serviceBackend } from './service.ts'

/** Resolves a backend reference of a route, or returns why it cannot be used. */
export function resolveBackend(
  context: Context,
  from: { kind: string; namespace: string },
  to: BackendReference,
): { backend: Backend; ignored?: string[] } | Unusable {
  const isService = to.kind === 'Service' && to.group === ''
  const isOwn = to.kind === 'GwBackend' && to.group === groupByKind.GwBackend
  if (!isService && !isOwn) {
    const kind = to.group === '' ? to.kind : `${to.kind}.${to.group}`
    return { reason: 'InvalidKind', message: `${kind} cannot be a backend` }
  }
  if (!isGranted(context, { group: GATEWAY_GROUP, ...from }, to)) {
    const message = `${printReference(to)} is in another namespace, and no ReferenceGrant there allows ${from.kind}s of ${from.namespace} to use it`
    return { reason: 'RefNotPermitted', message }
  }
  if (isOwn) return context.read(ownBackend, `${to.namespace}/${to.name}`)
  if (to.port === undefined) return { reason: 'UnsupportedValue', message: `${printReference(to)} needs a port` }
  const suffix = from.kind === 'UDPRoute' ? ':udp' : ''
  return context.read(serviceBackend, `${to.namespace}/${to.name}/${to.port}${suffix}`)
}
