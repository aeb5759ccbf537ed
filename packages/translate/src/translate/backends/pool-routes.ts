import { GATEWAY_GROUP, groupByKind } from '../../resources/kinds.ts'
import type { Context } from '../context.ts'
import { isGranted } from '../grants.ts'

/** Returns the routes to a pool, or to a GwBackend with a provider that the pool serves, as `Kind/namespace/name`. */
export function routesToPool(context: Context, place: string): string[] {
  const backends = context.keys('GwBackend', { by: 'pool', value: place })
  const routes = [
    ...routesToObject(context, 'InferencePool', place),
    ...backends.flatMap((backend) => routesToObject(context, 'GwBackend', backend)),
  ]
  return [...new Set(routes)]
}

/** Returns the routes to an object. A route that may not use the object has no effect on the status of the pool. */
function routesToObject(context: Context, target: 'InferencePool' | 'GwBackend', place: string): string[] {
  const [namespace = '', name = ''] = place.split('/')
  const to = { group: groupByKind[target], kind: target, namespace, name }
  return (['HTTPRoute', 'GRPCRoute'] as const).flatMap((kind) =>
    context
      .keys(kind, { by: 'backend', value: `${target}/${place}` })
      .filter((key) => isGranted(context, { group: GATEWAY_GROUP, kind, namespace: key.split('/')[0] ?? '' }, to))
      .map((key) => `${kind}/${key}`),
  )
}
