import { CONTROLLER_NAME } from '@portico/controller/selector'
import { type BackendReference, isFine, keyOf, readEndpointSlice, readService, type Resource } from '@portico/translate'
import { missing } from './gateway-links.ts'
import { broken, conditionsLink, type Link, ok, readConditions, statusFields, unknown } from './link.ts'
import type { ResourceView } from './resource-view.ts'

/** The state of a backend of a route, and of its addresses. */
export function backendLink(
  world: ResourceView,
  { kind, namespace, name, port }: BackendReference,
  protocol: 'TCP' | 'UDP',
): Link | null {
  const key = `${namespace}/${name}`
  if (kind === 'GwBackend') {
    const resource = world.get('GwBackend', key)
    return resource === undefined ? missing(world, 'GwBackend', key) : ownBackendLink(world, resource)
  }
  if (kind === 'GwModel') {
    const resource = world.get('GwModel', key)
    return resource === undefined ? missing(world, 'GwModel', key) : modelLink(world, resource)
  }
  if (kind === 'InferencePool') {
    const resource = world.get('InferencePool', key)
    return resource === undefined ? missing(world, 'InferencePool', key) : poolLink(world, resource)
  }
  if (kind === 'XBackend') {
    const resource = world.get('XBackend', key)
    return resource === undefined ? missing(world, 'XBackend', key) : xBackendLink(world, resource)
  }
  // The status of the route reports other kinds as invalid.
  if (kind !== 'Service') return null
  const resource = world.get('Service', key)
  return resource === undefined ? missing(world, 'Service', key) : serviceLink(world, resource, { port, protocol })
}

export function ownBackendLink(world: ResourceView, resource: Resource): Link {
  const conditions = readConditions(statusFields(world.statusOf('GwBackend', resource)))
  return conditionsLink(`GwBackend ${keyOf(resource)}`, resource, conditions)
}

export function poolLink(world: ResourceView, resource: Resource): Link {
  return linkAtGateways(world, resource, { kind: 'InferencePool', list: 'parents' })
}

/** The problem of a GwModel at the first parent where it has one, or success. */
export function modelLink(world: ResourceView, resource: Resource): Link {
  return linkAtGateways(world, resource, { kind: 'GwModel', list: 'parents' })
}

export function xBackendLink(world: ResourceView, resource: Resource): Link {
  return linkAtGateways(world, resource, { kind: 'XBackend', list: 'ancestors' })
}

/** The problem of a backend at the first Gateway where it has one, or success; `list` is the list in its status. */
function linkAtGateways(
  world: ResourceView,
  resource: Resource,
  { kind, list }: { kind: 'GwModel' | 'InferencePool' | 'XBackend'; list: 'parents' | 'ancestors' },
): Link {
  const what = `${kind} ${keyOf(resource)}`
  const parents = statusFields(world.statusOf(kind, resource))
    .objects(list)
    .filter((each) => each.text('controllerName') === CONTROLLER_NAME)
    .map(readConditions)
  if (parents.length === 0) return { what, state: 'note', says: 'no route of a Gateway refers to it' }
  const bad = parents.find((conditions) => conditions.some((each) => !isFine(each)))
  return conditionsLink(what, resource, bad ?? parents[0] ?? [])
}

function serviceLink(
  world: ResourceView,
  resource: Resource,
  { port, protocol }: { port: number | undefined; protocol: 'TCP' | 'UDP' },
): Link {
  const key = keyOf(resource)
  const what = `Service ${key}${port === undefined ? '' : `:${port}`}`
  const { ports: all, type, externalName } = readService(resource)
  // Only the controller knows which hosts are allowed; it refuses others in the status of the route.
  if (type === 'ExternalName') return ok(what, `found; resolves ${externalName}, if the controller allows that host`)
  const ports = all.filter((each) => each.protocol === protocol)
  const found = ports.find((each) => each.port === port)
  if (found === undefined) {
    const offered = ports.map((each) => each.port).join(', ') || 'none'
    return broken(what, `it has no ${protocol} port ${port ?? ''}`, `Use a port of the Service: ${offered}.`)
  }
  const right = world.hiddenBy('EndpointSlice', key)
  if (right !== undefined) return unknown(`addresses of ${what}`, right)
  const { namespace = '', name } = resource.metadata
  const slices = world
    .list('EndpointSlice', namespace)
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === name)
  if (slices.length === 0 && world.isOffline) return ok(what, 'found; resolved by DNS')
  const endpoints = slices.map(readEndpointSlice).flatMap((slice) => {
    return slice.ports.some((each) => each.name === found.name && each.protocol === protocol) ? slice.endpoints : []
  })
  const usable = endpoints.filter(({ isReady, isServing }) => isReady || isServing)
  if (usable.length > 0) return ok(what, `${usable.length} ${usable.length === 1 ? 'address' : 'addresses'}`)
  return broken(
    what,
    endpoints.length === 0 ? 'there are no Pods behind it' : `none of its ${endpoints.length} Pods is ready`,
    endpoints.length === 0
      ? 'Check the selector of the Service against the labels of the Pods, and the name of its targetPort.'
      : `Look at the readiness of its Pods: kubectl get endpointslices -n ${namespace} -l kubernetes.io/service-name=${name}`,
  )
}
