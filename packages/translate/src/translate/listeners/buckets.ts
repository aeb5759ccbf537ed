import { type RouteKind, routeKinds } from '../../resources/kinds.ts'
import type { Context } from '../context.ts'
import { listenerSetsOf } from './listener-sets.ts'

/** Routes of a Gateway are hashed into buckets: a change recomputes one bucket, not thousands of routes. */
export const BUCKETS: readonly number[] = Array.from({ length: 32 }, (_, index) => index)

/** Returns the bucket of a route; `id` is `Kind/namespace/name`. */
export function bucketOf(id: string): number {
  let hash = 0
  for (let index = 0; index < id.length; index++) hash = (hash * 31 + id.charCodeAt(index)) | 0
  return Math.abs(hash) % BUCKETS.length
}

/** Returns the query key of a bucket of a Gateway. */
export function bucketKey(gateway: string, bucket: number): string {
  return `${gateway} ${bucket}`
}

/** Ids of the routes in a bucket that name a Gateway or one of its ListenerSets. */
export function routesInBucket(
  context: Context,
  place: string,
  kinds: readonly RouteKind[] = routeKinds,
): { gateway: string; ids: string[] } {
  const [gateway = '', bucket = ''] = place.split(' ')
  const parents = [
    `Gateway/${gateway}`,
    ...context.read(listenerSetsOf, gateway).map(({ kind, key }) => `${kind}/${key}`),
  ]
  const ids = kinds.flatMap((kind) =>
    parents.flatMap((parent) =>
      context.keys(kind, { by: 'parent', value: `${parent} ${bucket}` }).map((route) => `${kind}/${route}`),
    ),
  )
  return { gateway, ids: [...new Set(ids)] }
}
