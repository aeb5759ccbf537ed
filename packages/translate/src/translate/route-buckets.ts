import { type RouteKind, routeKinds } from '../resources/kinds.ts'
import type { Context, Query } from './context.ts'
import { listenerSetsOf } from './listeners.ts'
import { compare } from './precedence.ts'
import { type RouteResources, routeResources } from './route-resources.ts'

/** Routes of a Gateway are put together in parts: of thousands a change looks at the few that share one with it. */
export const BUCKETS: readonly number[] = Array.from({ length: 32 }, (_, index) => index)

/** Of `Kind/namespace/name`. */
export function bucketOf(id: string): number {
  let hash = 0
  for (let index = 0; index < id.length; index++) hash = (hash * 31 + id.charCodeAt(index)) | 0
  return Math.abs(hash) % BUCKETS.length
}

/** What queries of a part are asked by. */
export function bucketPlace(gateway: string, bucket: number): string {
  return `${gateway} ${bucket}`
}

/** Ids of the routes of a part that name a Gateway, or one of its ListenerSets. */
export function routesInBucket(
  context: Context,
  place: string,
  kinds: readonly RouteKind[] = routeKinds,
): { gateway: string; ids: string[] } {
  const [gateway = '', bucket = ''] = place.split(' ')
  const parents = [`Gateway/${gateway}`, ...context.read(listenerSetsOf, gateway).map((set) => `ListenerSet/${set}`)]
  const ids = kinds.flatMap((kind) =>
    parents.flatMap((parent) =>
      context.keys(kind, { by: 'parent', value: `${parent} ${bucket}` }).map((route) => `${kind}/${route}`),
    ),
  )
  return { gateway, ids: [...new Set(ids)] }
}

/** What the routes of a part become, the oldest first. */
export const resourcesInBucket: Query<RouteResources[]> = {
  name: 'resourcesInBucket',
  compute(context, place) {
    const { gateway, ids } = routesInBucket(context, place)
    const found = ids.flatMap((id) => context.read(routeResources, `${gateway} ${id}`) ?? [])
    return found.toSorted((one, other) => compare(one.age, other.age))
  },
}

const agesInBucket: Query<string[]> = {
  name: 'agesInBucket',
  compute: (context, place) => context.read(resourcesInBucket, place).map(({ age }) => age),
}

/** Apart, because sorting costs more than all else: a route that changes keeps its age. */
const order: Query<{ bucket: number; index: number }[]> = {
  name: 'orderOfRoutes',
  compute(context, gateway) {
    const places = BUCKETS.flatMap((bucket) =>
      context.read(agesInBucket, bucketPlace(gateway, bucket)).map((age, index) => ({ age, bucket, index })),
    )
    return places.toSorted((one, other) => compare(one.age, other.age)).map(({ bucket, index }) => ({ bucket, index }))
  },
}

/** What each part has for each of its routes, the oldest of all first. */
export function inOrder<Value>(context: Context, gateway: string, query: Query<Value[]>): Value[] {
  const buckets = BUCKETS.map((bucket) => context.read(query, bucketPlace(gateway, bucket)))
  const values: Value[] = []
  for (const { bucket, index } of context.read(order, gateway)) {
    const value = buckets[bucket]?.[index]
    if (value !== undefined) values.push(value)
  }
  return values
}
