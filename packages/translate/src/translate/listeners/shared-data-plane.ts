import { API_GROUP } from '../../resources/api-group.ts'
import { readGateway } from '../../resources/gateway.ts'
import { textAt, valueAt } from '../../resources/json.ts'
import { keyOf } from '../../resources/resource.ts'
import type { Query } from '../context.ts'
import { ageOf, byAge } from '../precedence.ts'
import { isOurClass } from './gateway-class.ts'

/** No Gateway can have a name with a colon, so the key of a shared data plane is never that of a Gateway. */
const PREFIX = 'merged:'

/** The key of the data plane that all Gateways with these GwParameters share: `namespace/merged:name`. */
export function sharedPlaneKey(namespace: string, name: string): string {
  return `${namespace}/${PREFIX}${name}`
}

/** `namespace/name` of the GwParameters of a shared data plane; null for the key of a Gateway. */
export function parametersOfPlane(key: string): string | null {
  const [namespace = '', name = ''] = key.split('/')
  return name.startsWith(PREFIX) ? `${namespace}/${name.slice(PREFIX.length)}` : null
}

/**
 * The data plane that the Gateways of a class share; null when each has its own. Other mistakes in the parameters do not
 * matter here: they must not move Gateways to other data planes.
 */
const planeOfClass: Query<string | null> = {
  name: 'planeOfClass',
  compute(context, className) {
    if (!context.read(isOurClass, className)) return null
    const ref = valueAt(context.get('GatewayClass', className)?.spec, 'parametersRef')
    if (textAt(ref, 'group') !== API_GROUP || textAt(ref, 'kind') !== 'GwParameters') return null
    const [namespace = '', name = ''] = [textAt(ref, 'namespace'), textAt(ref, 'name')]
    const parameters = context.get('GwParameters', `${namespace}/${name}`)
    return valueAt(parameters?.spec, 'mergeGateways') === true ? sharedPlaneKey(namespace, name) : null
  },
}

/** The data plane that a Gateway shares with others; null when the Gateway has its own. */
export const sharedPlaneOf: Query<string | null> = {
  name: 'sharedPlaneOf',
  compute(context, key) {
    const gateway = context.get('Gateway', key)
    return gateway === undefined ? null : context.read(planeOfClass, readGateway(gateway).className)
  },
}

/** The shared data plane of a Gateway with the age of the Gateway as a sort key; null when the Gateway has its own. */
export const membershipOf: Query<{ plane: string; age: string } | null> = {
  name: 'membershipOf',
  compute(context, key) {
    const gateway = context.get('Gateway', key)
    const plane = context.read(sharedPlaneOf, key)
    return gateway === undefined || plane === null ? null : { plane, age: ageOf(gateway) }
  },
}

/** The Gateways of a shared data plane, the oldest first. */
export const membersOf: Query<string[]> = {
  name: 'membersOf',
  compute: (context, plane) =>
    context
      .list('Gateway')
      .filter((gateway) => context.read(planeOfClass, readGateway(gateway).className) === plane)
      .toSorted(byAge)
      .map(keyOf),
}
