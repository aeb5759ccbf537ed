import type { RouteKind } from '../resources/kinds.ts'
import { attachmentsOf, type ParentAttachment } from './attachment.ts'
import type { Context, Query } from './context.ts'
import type { Unusable } from './materials.ts'
import { refusedByKind, refusedPlace } from './kind-conflicts.ts'
import { compare } from './precedence.ts'
import { BUCKETS, bucketPlace, routesInBucket } from './buckets.ts'
import { routePlan } from './route-plan.ts'

/** Routes whose connections nothing but a server name tells apart: of two for the same the older one has them all. */
const CONNECTION_KINDS: readonly RouteKind[] = ['TLSRoute', 'TCPRoute']

interface Claim {
  /** Listener and hostname. */
  place: string
  id: string
  age: string
}

/** What another route has of what a route asks for. */
export interface Lost {
  /** The whole of it. */
  refusal: Unusable | null
  notices: string[]
}

export function lostBy(context: Context, id: string, { gateway, listeners }: ParentAttachment): Lost {
  const kind = id.slice(0, id.indexOf('/'))
  if (!CONNECTION_KINDS.some((each) => each === kind)) return lostToOtherKind(context, id, gateway, listeners)
  const owners = context.read(connectionOwners, gateway)
  const claims = listeners.flatMap(({ key, hostnames }) =>
    namesOf(hostnames).map((hostname) => ({ key, hostname, owner: owners[placeOf(key, hostname)] ?? id })),
  )
  const notices = claims
    .filter(({ owner }) => owner !== id)
    .map(({ key, hostname, owner }) => {
      const what = hostname === '' ? 'all connections' : `connections for ${hostname}`
      return `${printId(owner)} is older and has ${what} of listener ${key.slice(key.lastIndexOf('/') + 1)}`
    })
  if (notices.length === 0 || notices.length < claims.length) return { refusal: null, notices }
  return { refusal: { reason: 'Conflicted', message: notices.join('; ') }, notices: [] }
}

function lostToOtherKind(
  context: Context,
  id: string,
  gateway: string,
  listeners: ParentAttachment['listeners'],
): Lost {
  const refused = context.read(refusedByKind, gateway)
  const notices = listeners.flatMap(({ key }) => {
    const winner = refused[refusedPlace(key, id)]
    const listener = key.slice(key.lastIndexOf('/') + 1)
    return winner === undefined
      ? []
      : [`${printId(winner)} comes first and has hostnames of it at listener ${listener}`]
  })
  if (notices.length === 0 || notices.length < listeners.length) return { refusal: null, notices }
  return { refusal: { reason: 'Conflicted', message: notices.join('; ') }, notices: [] }
}

/** Which route, by `Kind/namespace/name`, has the connections for a hostname of a listener. */
const connectionOwners: Query<Record<string, string>> = {
  name: 'connectionOwners',
  compute(context, gateway) {
    const claims = BUCKETS.flatMap((bucket) => context.read(claimsInBucket, bucketPlace(gateway, bucket)))
    const oldestLast = claims.toSorted((one, other) => compare(other.age, one.age))
    return Object.fromEntries(oldestLast.map(({ place, id }) => [place, id]))
  },
}

const claimsInBucket: Query<Claim[]> = {
  name: 'claimsInBucket',
  compute(context, at) {
    const { gateway, ids } = routesInBucket(context, at, CONNECTION_KINDS)
    return ids.flatMap((id) => {
      const age = context.read(routePlan, id)?.age ?? ''
      return context
        .read(attachmentsOf, id)
        .filter((attachment) => attachment.gateway === gateway)
        .flatMap(({ listeners }) => listeners)
        .flatMap(({ key, hostnames }) =>
          namesOf(hostnames).map((hostname) => ({ place: placeOf(key, hostname), id, age })),
        )
    })
  },
}

/** Without hostnames it is for all. */
function namesOf(hostnames: readonly string[]): readonly string[] {
  return hostnames.length === 0 ? [''] : hostnames
}

function placeOf(listener: string, hostname: string): string {
  return `${listener} ${hostname}`
}

function printId(id: string): string {
  return id.replace('/', ' ')
}
