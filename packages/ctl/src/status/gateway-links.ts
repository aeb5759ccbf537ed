import { CONTROLLER_NAME } from '@portico/controller/selector'
import { Fields, keyOf, type ListenerSetKind, readGateway, readListenerSet, type ParentRef } from '@portico/translate'
import { nearNames } from '../cluster/near-names.ts'
import { broken, conditionsLink, type Link, ok, readConditions, statusFields, unknown } from './link.ts'
import { namespaceOf, type ResourceView } from './resource-view.ts'

/** The state of a class; null when another controller owns it, and so its Gateways. */
function classLink(world: ResourceView, name: string): Link | null {
  const what = `GatewayClass ${name}`
  const resource = world.get('GatewayClass', name)
  if (resource === undefined) {
    // Files need not contain the class.
    if (world.isOffline && name === 'portico') return ok(what, 'Accepted')
    const right = world.hiddenBy('GatewayClass', name)
    if (right !== undefined) return unknown(what, right)
    return broken(
      what,
      'not found',
      'Correct gatewayClassName of the Gateway, or install the controller with its class.',
    )
  }
  const controller = new Fields(resource.spec, ['spec'], []).text('controllerName')
  if (controller !== CONTROLLER_NAME) return null
  return conditionsLink(what, resource, readConditions(statusFields(world.statusOf('GatewayClass', resource))))
}

/** The state of the class of a Gateway, and of the Gateway. */
export function gatewayLinks(world: ResourceView, key: string): Link[] {
  const what = `Gateway ${key}`
  const resource = world.get('Gateway', key)
  if (resource === undefined) return [missing(world, 'Gateway', key)]
  const { className } = readGateway(resource)
  const first = classLink(world, className)
  if (first === null) {
    const says = `its class ${className} belongs to another controller`
    return [{ what, state: 'note', says }]
  }
  if (first.state === 'broken') return [first]
  return [first, conditionsLink(what, resource, readConditions(statusFields(world.statusOf('Gateway', resource))))]
}

/** The state of listeners; when a route may attach to several, one that works is enough. */
export function listenerLinks(
  world: ResourceView,
  kind: 'Gateway' | ListenerSetKind,
  key: string,
  ref?: ParentRef,
): Link[] {
  const resource = world.get(kind, key)
  if (resource === undefined) return []
  const { listeners } = kind === 'Gateway' ? readGateway(resource) : readListenerSet(resource)
  const statuses = new Map(
    statusFields(world.statusOf(kind, resource))
      .objects('listeners')
      .map((each) => [each.text('name') ?? '', readConditions(each)]),
  )
  const chosen = listeners.filter(
    ({ name, port }) =>
      (ref?.sectionName === undefined || ref.sectionName === name) && (ref?.port === undefined || ref.port === port),
  )
  const links = chosen.map(({ name, hostname, port, protocol }) => {
    const link = conditionsLink(`listener ${name} of ${kind} ${key}`, resource, statuses.get(name) ?? [])
    const where = `${protocol} on ${port}${hostname === '' ? '' : ` for ${hostname}`}`
    return link.state === 'ok' ? { ...link, says: `${where}: ${link.says}` } : link
  })
  if (ref === undefined || links.every(({ state }) => state === 'broken')) return links
  return links.map((link) => (link.state === 'broken' ? { ...link, state: 'note' } : link))
}

/** The links of a parent of a route: a ListenerSet, its Gateway, and the listeners. */
export function parentLinks(world: ResourceView, ref: ParentRef): Link[] {
  const key = `${ref.namespace}/${ref.name}`
  if (ref.kind === 'Gateway') {
    const own = gatewayLinks(world, key)
    return isNobodys(own) ? own : [...own, ...listenerLinks(world, 'Gateway', key, ref)]
  }
  const kind = ref.kind === 'XListenerSet' ? 'XListenerSet' : 'ListenerSet'
  const set = world.get(kind, key)
  if (set === undefined) return [missing(world, kind, key)]
  const { parent } = readListenerSet(set)
  const own = conditionsLink(`${kind} ${key}`, set, readConditions(statusFields(world.statusOf(kind, set))))
  const above = parent === undefined ? [] : gatewayLinks(world, `${parent.namespace}/${parent.name}`)
  return isNobodys(above) ? above : [...above, own, ...listenerLinks(world, kind, key, ref)]
}

/**
 * Whether the Gateway or its class is missing, broken or of another controller, so that its listeners have no state.
 */
function isNobodys(links: readonly Link[]): boolean {
  return links.length === 1
}

/** A link for a missing object, with similar names. */
export function missing(
  world: ResourceView,
  kind: 'Gateway' | ListenerSetKind | 'Service' | 'GwBackend' | 'GwModel' | 'InferencePool' | 'XBackend',
  key: string,
): Link {
  const what = `${kind} ${key}`
  const right = world.hiddenBy(kind, key)
  if (right !== undefined) return unknown(what, right)
  const name = key.slice(key.indexOf('/') + 1)
  const there = world.list(kind, namespaceOf(key)).map(({ metadata }) => metadata.name)
  const near = nearNames(name, there)
  const twins = world.list(kind).filter(({ metadata }) => metadata.name === name)
  const hint =
    near.length > 0
      ? ` Did you mean ${near.join(' or ')}?`
      : twins.length > 0
        ? ` There is one in another namespace: ${twins.map(keyOf).join(', ')}.`
        : ''
  return broken(what, 'not found', `Correct the name and namespace of the reference, or create it.${hint}`)
}
