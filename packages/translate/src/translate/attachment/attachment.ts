import type { Reason } from '../../resources/reasons.ts'
import type { ParentRef } from '../../resources/references.ts'
import { GATEWAY_GROUP, listenerSetKindOf } from '../../resources/kinds.ts'
import type { Context, Query } from '../context.ts'
import { intersection } from './hostnames.ts'
import { readListenerSet } from '../../resources/listener-set.ts'
import { isAllowed, isFrom } from '../listeners/listener-sets.ts'
import { isOurGateway, listenersOf, type ResolvedListener } from '../listeners/listeners.ts'
import type { Unusable } from '../materials.ts'
import { findAttachable, parentRefsOf } from './parent-refs.ts'
import { routeHostnames } from './route-hostnames.ts'

/** A parent of a route that belongs to this controller. */
export interface ParentAttachment {
  ref: ParentRef
  /** The Gateway as `namespace/name`. */
  gateway: string
  /** Listeners that accept the route, each with the hostnames of the route that the listener shares. */
  listeners: { key: string; hostnames: string[] }[]
  refusal: Unusable | null
}

/** The attachments of a route or of a GwModel, by `Kind/namespace/name`. Parents of other controllers are left out. */
export const attachmentsOf: Query<ParentAttachment[]> = {
  name: 'attachmentsOf',
  compute(context, id) {
    return context.read(parentRefsOf, id).flatMap((ref) => {
      const gateway = gatewayOf(context, ref)
      if (gateway === null || !context.read(isOurGateway, gateway)) return []
      return [{ ref, gateway, ...attach(context, id, ref, gateway) }]
    })
  },
}

/** Returns the Gateway that a parent is, or that a ListenerSet belongs to; null for other parents. */
function gatewayOf(context: Context, { group, kind, namespace, name }: ParentRef): string | null {
  if (group === GATEWAY_GROUP && kind === 'Gateway') return `${namespace}/${name}`
  const setKind = listenerSetKindOf({ group, kind })
  if (setKind === null) return null
  const set = context.get(setKind, `${namespace}/${name}`)
  const parent = set === undefined ? undefined : readListenerSet(set).parent
  return parent === undefined || parent.kind !== 'Gateway' ? null : `${parent.namespace}/${parent.name}`
}

function attach(
  context: Context,
  id: string,
  ref: ParentRef,
  gateway: string,
): Pick<ParentAttachment, 'listeners' | 'refusal'> {
  const refuse = (reason: Reason, message: string) => ({ listeners: [], refusal: { reason, message } })
  const parent = `${ref.namespace}/${ref.name}`
  const setKind = listenerSetKindOf(ref)
  if (setKind !== null) {
    const set = context.get(setKind, parent)
    if (set === undefined || !isAllowed(context, gateway, set)) {
      return refuse('NotAllowedByListeners', `Gateway ${gateway} does not allow ${setKind} ${parent}`)
    }
  }
  const all = context.read(listenersOf, gateway)
  const named = all.filter(
    (listener) =>
      listener.parent.kind === ref.kind &&
      listener.parent.key === parent &&
      (ref.sectionName === undefined || listener.name === ref.sectionName) &&
      (ref.port === undefined || listener.port === ref.port) &&
      listener.state !== 'absent',
  )
  if (named.length === 0)
    return refuse('NoMatchingParent', `${ref.kind} ${parent} has no usable listener${printChoice(ref)}`)
  const open = named.filter((listener) => isOpen(context, id, listener))
  if (open.length === 0) {
    const names = named.map(({ name }) => name).join(', ')
    return refuse(
      'NotAllowedByListeners',
      `Listener ${names} does not allow ${id.startsWith('GwModel/') ? 'GwModels, or not of this namespace' : 'routes of this kind or namespace'}`,
    )
  }
  const hostnames = context.read(routeHostnames, id)
  const listeners = open.flatMap((listener) => {
    const left = sharedHostnames(listener, hostnames)
    return left === null ? [] : [{ key: listener.key, hostnames: left }]
  })
  if (listeners.length > 0) return { listeners, refusal: null }
  const wanted = open.map(({ name, hostname }) => `${name} (${hostname})`).join(', ')
  return refuse('NoMatchingListenerHostname', `No hostname of the route is one of listener ${wanted}`)
}

function printChoice({ sectionName, port }: ParentRef): string {
  const parts = [
    ...(sectionName === undefined ? [] : [`named ${sectionName}`]),
    ...(port === undefined ? [] : [`on port ${port}`]),
  ]
  return parts.length === 0 ? '' : ` ${parts.join(' ')}`
}

function isOpen(context: Context, id: string, listener: ResolvedListener): boolean {
  const found = findAttachable(id)
  if (found === null) return false
  const isAllowedKind = found.kind === 'GwModel' ? listener.allowsModels : listener.supportedKinds.includes(found.kind)
  if (!isAllowedKind) return false
  const namespaceOf = (key: string): string => key.slice(0, key.indexOf('/'))
  return isFrom(context, listener.from, { own: namespaceOf(listener.parent.key), other: namespaceOf(found.key) })
}

/**
 * The hostnames of a route that the listener shares: null when it shares none; an empty list when the route has none. They
 * stay as written, because the most specific of them decides between routes; the listener admits no other hostname.
 */
function sharedHostnames({ hostname }: ResolvedListener, hostnames: readonly string[]): string[] | null {
  if (hostnames.length === 0) return []
  const shared = hostnames.filter((each) => intersection(hostname, each) !== null)
  return shared.length === 0 ? null : [...new Set(shared)]
}
