import { readGateway } from '../../resources/gateway.ts'
import { GATEWAY_GROUP, groupByKind, type ListenerSetKind } from '../../resources/kinds.ts'
import { readListenerSet } from '../../resources/listener-set.ts'
import type { ConditionType, Reason } from '../../resources/reasons.ts'
import {
  type Condition,
  condition,
  type GatewayStatus,
  type ListenerSetStatus,
  type ListenerStatus,
} from '../../resources/status.ts'
import { printFieldProblem } from '../../resources/fields.ts'
import { attachmentsOf } from '../attachment/attachment.ts'
import type { Context, Query } from '../context.ts'
import { backendCertificate } from '../gateways/gateway-backends.ts'
import { withoutConflicts } from '../routes/kind-conflicts.ts'
import { isAllowed, isReplaced } from '../listeners/listener-sets.ts'
import { isOurGateway, listenersOf, type ResolvedListener } from '../listeners/listeners.ts'
import { sharedPlaneOf } from '../listeners/shared-data-plane.ts'
import type { Unusable } from '../materials.ts'
import { BUCKETS, bucketKey, routesInBucket } from '../listeners/buckets.ts'

/** The number of routes of each listener of a Gateway, by key. */
const attachedRoutes: Query<Record<string, number>> = {
  name: 'attachedRoutes',
  compute(context, key) {
    const counts: Record<string, number> = {}
    for (const bucket of BUCKETS) {
      const part = context.read(attachedInBucket, bucketKey(key, bucket))
      for (const [listener, count] of Object.entries(part)) counts[listener] = (counts[listener] ?? 0) + count
    }
    return counts
  },
}

const attachedInBucket: Query<Record<string, number>> = {
  name: 'attachedInBucket',
  compute(context, place) {
    const { gateway, ids } = routesInBucket(context, place)
    const counts: Record<string, number> = {}
    for (const id of ids) {
      const own = context.read(attachmentsOf, id).filter((attachment) => attachment.gateway === gateway)
      const taken = own.flatMap((attachment) => withoutConflicts(context, id, attachment))
      const listeners = new Set(taken.map((listener) => listener.key))
      for (const listener of listeners) counts[listener] = (counts[listener] ?? 0) + 1
    }
    return counts
  },
}

export const gatewayStatus: Query<GatewayStatus | null> = {
  name: 'gatewayStatus',
  compute(context, key) {
    const resource = context.get('Gateway', key)
    if (resource === undefined || !context.read(isOurGateway, key)) return null
    const generation = resource.metadata.generation ?? 0
    const say = (type: ConditionType, isTrue: boolean, reason: Reason, message: string): Condition =>
      condition(type, isTrue, { reason, message, generation })
    const spec = readGateway(resource)
    const all = context.read(listenersOf, key)
    const own = all.filter(({ parent }) => parent.kind === 'Gateway')
    const bad = own.filter(({ state }) => state !== 'served')
    const messages = bad.map(({ name, conditions }) => `${name}: ${messageOf(conditions)}`)
    const unknown = spec.problems.map(printFieldProblem)
    const address = spec.addresses.find(({ type }) => type !== 'IPAddress' && type !== 'Hostname')
    const accepted =
      address !== undefined
        ? say('Accepted', false, 'UnsupportedAddress', `Unknown address kind ${address.type}`)
        : bad.length === 0
          ? say('Accepted', true, 'Accepted', ['Gateway accepted', ...unknown].join('; '))
          : say(
              'Accepted',
              own.some(isAccepted),
              'ListenersNotValid',
              ['Some listeners are not valid', ...messages, ...unknown].join('; '),
            )
    const isProgrammed = address === undefined && (own.length === 0 || bad.length < own.length)
    const plane = context.read(sharedPlaneOf, key)
    const certificate =
      plane !== null && spec.backendCertificate !== null ? SHARED_CONNECTIONS : context.read(backendCertificate, key)
    const isLax = [...spec.clientValidation.values()].some((validation) => validation.isLax)
    const sets = new Set(
      all.flatMap(({ parent, state }) =>
        parent.kind !== 'Gateway' && state === 'served' ? `${parent.kind}/${parent.key}` : [],
      ),
    )
    return {
      conditions: [
        accepted,
        isProgrammed
          ? say('Programmed', true, 'Programmed', 'Gateway programmed')
          : say('Programmed', false, 'Invalid', 'No valid listeners'),
        ...(certificate === null
          ? []
          : 'reason' in certificate
            ? [say('ResolvedRefs', false, certificate.reason, certificate.message)]
            : [say('ResolvedRefs', true, 'ResolvedRefs', 'All references resolved')]),
        ...(isLax
          ? [
              say(
                'InsecureFrontendValidationMode',
                true,
                'ConfigurationChanged',
                'Clients without a valid certificate are accepted',
              ),
            ]
          : []),
      ],
      listeners: own.map((listener) => listenerStatus(listener, context.read(attachedRoutes, key))),
      attachedListenerSets: sets.size,
    }
  },
}

/** A Gateway with a shared data plane cannot have a client certificate, with which the others would call their backends too. */
const SHARED_CONNECTIONS: Unusable = {
  reason: 'InvalidClientCertificateRef',
  message:
    'tls.backend.clientCertificateRef: not used, because the Gateways of this class share connections to backends; set backend.tls.mtlsCertificateRef in a GwPolicy for the backend',
}

export const listenerSetStatus = statusOfSets('ListenerSet')
export const xListenerSetStatus = statusOfSets('XListenerSet')

function statusOfSets(kind: ListenerSetKind): Query<ListenerSetStatus | null> {
  return { name: `statusOf${kind}`, compute: (context, key) => setStatus(context, kind, key) }
}

function setStatus(context: Context, kind: ListenerSetKind, key: string): ListenerSetStatus | null {
  const resource = context.get(kind, key)
  const parent = resource === undefined ? undefined : readListenerSet(resource).parent
  if (resource === undefined || parent === undefined || parent.kind !== 'Gateway') return null
  const gateway = `${parent.namespace}/${parent.name}`
  if (!context.read(isOurGateway, gateway)) return null
  const generation = resource.metadata.generation ?? 0
  const both = (isTrue: boolean, [accepted, programmed]: [Reason, Reason], message: string): Condition[] => [
    condition('Accepted', isTrue, { reason: accepted, message, generation }),
    condition('Programmed', isTrue, { reason: programmed, message, generation }),
  ]
  if (!isAllowed(context, gateway, resource)) {
    const message = `Gateway ${gateway} does not allow this ${kind}`
    return { conditions: both(false, ['NotAllowed', 'NotAllowed'], message), listeners: [] }
  }
  if (isReplaced(context, kind, key)) {
    const message = `ListenerSet ${key} takes its place`
    return { conditions: both(false, ['Conflicted', 'Conflicted'], message), listeners: [] }
  }
  const own = context.read(listenersOf, gateway).filter((each) => each.parent.kind === kind && each.parent.key === key)
  const bad = own.filter(({ state }) => state !== 'served')
  const messages = bad.map(({ name, conditions }) => `${name}: ${messageOf(conditions)}`).join('; ')
  const conditions =
    bad.length === own.length
      ? both(false, ['ListenersNotValid', 'ListenersNotValid'], messages || 'There are no listeners')
      : both(true, [bad.length === 0 ? 'Accepted' : 'ListenersNotValid', 'Programmed'], messages || `${kind} accepted`)
  return {
    conditions,
    listeners: own.map((listener) => ({
      ...listenerStatus(listener, context.read(attachedRoutes, gateway)),
      ...(kind === 'XListenerSet' && { port: listener.port }),
    })),
  }
}

function listenerStatus(
  { key, name, supportedKinds, allowsModels, conditions }: ResolvedListener,
  counts: Readonly<Record<string, number>>,
): ListenerStatus {
  return {
    name,
    supportedKinds: [
      ...supportedKinds.map((kind) => ({ group: GATEWAY_GROUP, kind })),
      ...(allowsModels ? [{ group: groupByKind.GwModel, kind: 'GwModel' }] : []),
    ],
    attachedRoutes: counts[key] ?? 0,
    conditions,
  }
}

/** A listener with unresolved references is accepted nevertheless. */
function isAccepted({ conditions }: ResolvedListener): boolean {
  return conditions.some(({ type, status }) => type === 'Accepted' && status === 'True')
}

function messageOf(conditions: readonly Condition[]): string {
  return conditions.find(({ type }) => type === 'Programmed')?.message ?? ''
}
