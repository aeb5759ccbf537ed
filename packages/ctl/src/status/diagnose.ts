import { CONTROLLER_NAME } from '@portico/controller/selector'
import {
  type BackendReference,
  Fields,
  keyOf,
  type Kind,
  kindOf,
  type ParentRef,
  readBackendRef,
  readGateway,
  readListenerSet,
  readParentRefs,
  type Resource,
  routeKinds,
} from '@portico/translate'
import { backendLink, modelLink, ownBackendLink, poolLink, xBackendLink } from './backend-links.ts'
import { gatewayLinks, listenerLinks, parentLinks } from './gateway-links.ts'
import { broken, conditionsLink, type Link, ok, readConditions, statusFields } from './link.ts'
import { policiesFor, policyLink } from './policy-links.ts'
import { type TargetKind, targetKinds } from './kinds.ts'
import type { ResourceView } from './resource-view.ts'

/** The diagnosis of one resource: all links in the order in which requests pass them. */
export interface Finding {
  /** The name, such as `HTTPRoute shop/orders`. */
  resource: string
  /** The first broken link; null when all are fine. */
  broken: Link | null
  links: Link[]
}

/** Diagnoses a resource. With `isListed`, the routes of a Gateway are left out, because they have their own entry. */
export function diagnose(world: ResourceView, kind: TargetKind, resource: Resource, isListed = false): Finding {
  const links = distinct(linksOf(world, kind, resource, isListed))
  return {
    resource: `${kind} ${keyOf(resource)}`,
    broken: links.find(({ state }) => state === 'broken') ?? null,
    links,
  }
}

function linksOf(world: ResourceView, kind: TargetKind, resource: Resource, isListed: boolean): Link[] {
  const key = keyOf(resource)
  switch (kind) {
    case 'Gateway':
      return [...ofGateway(world, resource), ...(isListed ? [] : routesOfGateway(world, keyOf(resource)))]
    case 'ListenerSet':
    case 'XListenerSet': {
      const { namespace, name } = readListenerSet(resource).parent ?? { namespace: '', name: '' }
      const own = conditionsLink(
        `${kind} ${key}`,
        resource,
        readConditions(statusFields(world.statusOf(kind, resource))),
      )
      return [
        ...gatewayLinks(world, `${namespace}/${name}`),
        own,
        ...listenerLinks(world, kind, key),
        ...policiesFor(world, resource).map((policy) => policyLink(world, policy)),
      ]
    }
    case 'GwPolicy':
    case 'GwFilter':
    case 'BackendTLSPolicy':
    case 'XBackendTrafficPolicy':
    case 'XTelemetryPolicy':
      return [policyLink(world, resource)]
    case 'GwBackend':
      return [
        ownBackendLink(world, resource),
        ...policiesFor(world, resource).map((policy) => policyLink(world, policy)),
      ]
    case 'GwModel':
      return [modelLink(world, resource)]
    case 'InferencePool':
      return [poolLink(world, resource)]
    case 'XBackend':
      return [xBackendLink(world, resource), ...policiesFor(world, resource).map((policy) => policyLink(world, policy))]
    case 'HTTPRoute':
    case 'GRPCRoute':
    case 'TLSRoute':
    case 'TCPRoute':
    case 'UDPRoute':
      return ofRoute(world, kind, resource)
  }
}

function ofGateway(world: ResourceView, resource: Resource): Link[] {
  const key = keyOf(resource)
  const policies = policiesFor(world, resource).map((policy) => policyLink(world, policy))
  return [...gatewayLinks(world, key), ...listenerLinks(world, 'Gateway', key), ...policies]
}

function routesOfGateway(world: ResourceView, key: string): Link[] {
  const routes = routeKinds.flatMap((kind) =>
    world
      .list(kind)
      .filter((route) => parentsOf(route).some((ref) => gatewayOf(world, ref) === key))
      .map((route) => ({ kind, route })),
  )
  const states = routes.flatMap(({ kind, route }) =>
    parentsOf(route)
      .filter((ref) => gatewayOf(world, ref) === key)
      .map((ref) => attachmentLink(world, kind, route, ref)),
  )
  const bad = states.filter(({ state }) => state === 'broken')
  const good = states.length - bad.length
  return [
    ...(good === 0 ? [] : [ok(`routes of Gateway ${key}`, `${good} ${good === 1 ? 'is' : 'are'} attached`)]),
    ...bad,
  ]
}

function ofRoute(world: ResourceView, kind: (typeof routeKinds)[number], route: Resource): Link[] {
  const parents = parentsOf(route)
  if (parents.length === 0) {
    return [broken(`${kind} ${keyOf(route)}`, 'it has no parentRefs', 'Name a Gateway in spec.parentRefs.')]
  }
  const above = parents.map((ref) => ({ ref, links: parentLinks(world, ref) }))
  // A parent of another controller is no problem when one parent is ours.
  const ours = above.filter(({ links }) => links[0]?.state !== 'note')
  const served = ours.filter(
    ({ links }) => !links.some(({ state, what }) => state === 'broken' && !what.startsWith('listener')),
  )
  const backends = backendsOf(route)
  const targets = [...targetsAbove(world, parents), route, ...backends.flatMap((ref) => referred(world, ref))]
  const policies = new Map(targets.flatMap((target) => policiesFor(world, target)).map((each) => [each, each]))
  return [
    ...above.flatMap(({ links }) => links),
    ...(ours.length === 0
      ? [
          broken(
            `${kind} ${keyOf(route)}`,
            'none of its parents is a Gateway of class portico',
            'Name one in spec.parentRefs.',
          ),
        ]
      : served.map(({ ref }) => attachmentLink(world, kind, route, ref))),
    ...[...policies.keys()].map((policy) => policyLink(world, policy)),
    ...backends.flatMap((ref) => backendLink(world, ref, kind === 'UDPRoute' ? 'UDP' : 'TCP') ?? []),
  ]
}

/** The status of a route for one parent. */
function attachmentLink(world: ResourceView, kind: Kind, route: Resource, ref: ParentRef): Link {
  const at = `${ref.kind} ${ref.namespace}/${ref.name}${ref.sectionName === undefined ? '' : `/${ref.sectionName}`}`
  const what = `${kind} ${keyOf(route)} at ${at}`
  const { namespace: own = '' } = route.metadata
  const entry = statusFields(world.statusOf(kind, route))
    .objects('parents')
    .filter((each) => each.text('controllerName') === CONTROLLER_NAME)
    .find((each) => {
      const parent = each.object('parentRef')
      return (
        (parent.text('kind') ?? 'Gateway') === ref.kind &&
        (parent.text('namespace') ?? own) === ref.namespace &&
        parent.text('name') === ref.name &&
        parent.text('sectionName') === ref.sectionName &&
        parent.integer('port') === ref.port
      )
    })
  return conditionsLink(what, route, entry === undefined ? [] : readConditions(entry))
}

export function parentsOf({ spec, metadata }: Resource): ParentRef[] {
  return readParentRefs(new Fields(spec, ['spec'], []), metadata.namespace ?? '').filter(
    ({ kind }) => kind === 'Gateway' || kind === 'ListenerSet' || kind === 'XListenerSet',
  )
}

/** The backends of all rules, without duplicates. */
export function backendsOf({ spec, metadata }: Resource): BackendReference[] {
  const all = new Fields(spec, ['spec'], [])
    .objects('rules')
    .flatMap((rule) => rule.objects('backendRefs'))
    .flatMap((fields) => readBackendRef(fields, metadata.namespace ?? '') ?? [])
  const byName = new Map(all.map((ref) => [`${ref.kind} ${ref.namespace}/${ref.name}:${ref.port}`, ref]))
  return [...byName.values()]
}

/** `namespace/name` of the Gateway that a parent is or belongs to; null when it is unknown. */
function gatewayOf(world: ResourceView, { kind, namespace, name }: ParentRef): string | null {
  if (kind === 'Gateway') return `${namespace}/${name}`
  const set = world.get(kind === 'XListenerSet' ? kind : 'ListenerSet', `${namespace}/${name}`)
  const parent = set === undefined ? undefined : readListenerSet(set).parent
  return parent === undefined ? null : `${parent.namespace}/${parent.name}`
}

/** Gateways and ListenerSets of a route, whose policies apply to it too. */
function targetsAbove(world: ResourceView, parents: readonly ParentRef[]): Resource[] {
  const found = parents.flatMap((ref) => {
    const gateway = gatewayOf(world, ref)
    return [
      gateway === null ? undefined : world.get('Gateway', gateway),
      ref.kind === 'ListenerSet' ? world.get('ListenerSet', `${ref.namespace}/${ref.name}`) : undefined,
    ]
  })
  return [...new Set(found.filter((each) => each !== undefined))]
}

function referred(world: ResourceView, { kind, namespace, name }: BackendReference): Resource[] {
  if (kind !== 'Service' && kind !== 'GwBackend') return []
  const found = world.get(kind, `${namespace}/${name}`)
  return found === undefined ? [] : [found]
}

/** Removes duplicates, because several parents share links. */
function distinct(links: readonly Link[]): Link[] {
  return [...new Map(links.map((link) => [`${link.what} ${link.says}`, link])).values()]
}

/** Diagnoses all supported resources of a namespace, Gateways first. */
export function diagnoseAll(world: ResourceView, namespace: string | null): Finding[] {
  return targetKinds.flatMap((kind) =>
    world
      .list(kind, namespace ?? undefined)
      .filter((resource) => kind !== 'Gateway' || isOurs(world, resource))
      .filter((resource) => kindOf(resource) === kind)
      .map((resource) => diagnose(world, kind, resource, true)),
  )
}

function isOurs(world: ResourceView, gateway: Resource): boolean {
  const { className } = readGateway(gateway)
  const found = world.get('GatewayClass', className)
  return found === undefined || new Fields(found.spec, ['spec'], []).text('controllerName') === CONTROLLER_NAME
}
