import { isTrustDomain } from '@portico/gateway/spiffe'
import { isObject } from '@portico/http/json'
import { API_GROUP } from '../../resources/api-group.ts'
import { textAt, valueAt } from '../../resources/json.ts'
import type { Context, Query } from '../context.ts'
import { sharedPlaneOf } from '../listeners/shared-data-plane.ts'

/**
 * The trust domain of a Gateway in a mesh; null when it is in none. Other mistakes in its parameters do not matter here:
 * they must not turn encryption off.
 */
export const gatewayMesh: Query<string | null> = {
  name: 'gatewayMesh',
  compute(context, key) {
    const gateway = context.get('Gateway', key)
    if (gateway === undefined) return null
    const gatewayClass = context.get('GatewayClass', textAt(gateway.spec, 'gatewayClassName') ?? '')
    const ofClass = valueAt(gatewayClass?.spec, 'parametersRef')
    const isShared = context.read(sharedPlaneOf, key) !== null
    const ofGateway = isShared ? undefined : valueAt(gateway.spec, 'infrastructure', 'parametersRef')
    const blocks = [
      meshAt(context, ofClass, textAt(ofClass, 'namespace')),
      meshAt(context, ofGateway, gateway.metadata.namespace),
    ].filter(isObject)
    if (blocks.length === 0) return null
    const names = blocks.flatMap((block) => textAt(block, 'trustDomain') ?? []).filter(isTrustDomain)
    return names.at(-1) ?? 'cluster.local'
  },
}

function meshAt(context: Context, ref: unknown, namespace: string | undefined): unknown {
  if (textAt(ref, 'group') !== API_GROUP || textAt(ref, 'kind') !== 'GwParameters') return undefined
  const name = textAt(ref, 'name') ?? ''
  return valueAt(context.get('GwParameters', `${namespace ?? ''}/${name}`)?.spec, 'mesh')
}
