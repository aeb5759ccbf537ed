import { BUCKETS, bucketKey, routesInBucket } from '../listeners/buckets.ts'
import type { Context, Query } from '../context.ts'
import { compare } from '../precedence.ts'
import { routeResources } from './route-resources.ts'
import type { RouteResources } from './rule-resources.ts'

/** The translated routes of a bucket, the oldest first. */
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

/** A separate query, because sorting dominates the cost, and a changed route keeps its age. */
const order: Query<{ bucket: number; index: number }[]> = {
  name: 'orderOfRoutes',
  compute(context, gateway) {
    const places = BUCKETS.flatMap((bucket) =>
      context.read(agesInBucket, bucketKey(gateway, bucket)).map((age, index) => ({ age, bucket, index })),
    )
    return places.toSorted((one, other) => compare(one.age, other.age)).map(({ bucket, index }) => ({ bucket, index }))
  },
}

/** Merges the values of all buckets, those of the oldest route first. */
export function inOrder<Value>(context: Context, gateway: string, query: Query<Value[]>): Value[] {
  const buckets = BUCKETS.map((bucket) => context.read(query, bucketKey(gateway, bucket)))
  const values: Value[] = []
  for (const { bucket, index } of context.read(order, gateway)) {
    const value = buckets[bucket]?.[index]
    if (value !== undefined) values.push(value)
  }
  return values
}
