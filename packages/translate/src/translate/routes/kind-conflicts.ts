import type { RouteKind } from '../../resources/kinds.ts'
import { attachmentsOf, type ParentAttachment } from '../attachment/attachment.ts'
import { BUCKETS, bucketKey, routesInBucket } from '../listeners/buckets.ts'
import type { Context, Query } from '../context.ts'
import { intersection } from '../attachment/hostnames.ts'
import { ageOf, compare } from '../precedence.ts'
import { findRoute } from '../attachment/parent-refs.ts'

/** Returns the listeners that accept the route: others have a conflicting older route of the other kind. */
export function withoutConflicts(
  context: Context,
  id: string,
  { gateway, listeners }: Pick<ParentAttachment, 'gateway' | 'listeners'>,
): ParentAttachment['listeners'] {
  if (!HTTP_KINDS.some((kind) => id.startsWith(`${kind}/`))) return listeners
  const refused = context.read(refusedByKind, gateway)
  return listeners.filter(({ key }) => refused[refusedPlace(key, id)] === undefined)
}

const HTTP_KINDS: readonly RouteKind[] = ['HTTPRoute', 'GRPCRoute']

interface HostClaim {
  listener: string
  hostnames: readonly string[]
  id: string
  age: string
}

/**
 * For a listener and route, the route of the other kind that wins. The Gateway API accepts one of an HTTPRoute and a
 * GRPCRoute whose hostnames intersect at a listener: the older one, then the first by namespace and name.
 */
export const refusedByKind: Query<Record<string, string>> = {
  name: 'refusedByKind',
  compute(context, gateway) {
    // Most Gateways have no GRPCRoute, so their thousands of HTTPRoutes need no check.
    const ofGrpc = BUCKETS.flatMap((bucket) => context.read(grpcClaimsInBucket, bucketKey(gateway, bucket)))
    if (ofGrpc.length === 0) return {}
    const shared = new Set(ofGrpc.map(({ listener }) => listener))
    const ofHttp = BUCKETS.flatMap((bucket) => context.read(httpClaimsInBucket, bucketKey(gateway, bucket)))
    const claims = [...ofGrpc, ...ofHttp.filter(({ listener }) => shared.has(listener))]
    const accepted: HostClaim[] = []
    const refused: Record<string, string> = {}
    for (const claim of claims.toSorted((one, other) => compare(one.age, other.age))) {
      const winner = accepted.find((other) => areRivals(claim, other))
      if (winner === undefined) accepted.push(claim)
      else refused[refusedPlace(claim.listener, claim.id)] = winner.id
    }
    return refused
  },
}

function areRivals(one: HostClaim, other: HostClaim): boolean {
  if (one.listener !== other.listener || kindOf(one.id) === kindOf(other.id)) return false
  return namesOf(one.hostnames).some((name) =>
    namesOf(other.hostnames).some((another) => intersection(name, another) !== null),
  )
}

function kindOf(id: string): string {
  return id.slice(0, id.indexOf('/'))
}

const grpcClaimsInBucket: Query<HostClaim[]> = {
  name: 'grpcClaimsInBucket',
  compute: (context, at) => hostClaims(context, at, 'GRPCRoute'),
}

const httpClaimsInBucket: Query<HostClaim[]> = {
  name: 'httpClaimsInBucket',
  compute: (context, at) => hostClaims(context, at, 'HTTPRoute'),
}

function hostClaims(context: Context, at: string, kind: RouteKind): HostClaim[] {
  const { gateway, ids } = routesInBucket(context, at, [kind])
  return ids.flatMap((id) => {
    const found = findRoute(id)
    const resource = found === null ? undefined : context.get(found.kind, found.key)
    if (resource === undefined) return []
    const age = ageOf(resource)
    return context
      .read(attachmentsOf, id)
      .filter((attachment) => attachment.gateway === gateway)
      .flatMap(({ listeners }) => listeners)
      .map(({ key, hostnames }) => ({ listener: key, hostnames, id, age }))
  })
}

export function refusedPlace(listener: string, id: string): string {
  return `${listener} ${id}`
}

/** A route without hostnames matches all hostnames. */
function namesOf(hostnames: readonly string[]): readonly string[] {
  return hostnames.length === 0 ? [''] : hostnames
}
