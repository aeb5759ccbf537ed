import type { RouteKind } from '../../resources/kinds.ts'
import { attachmentsOf, type ParentAttachment } from '../attachment/attachment.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { refusedByKind, refusedPlace } from './kind-conflicts.ts'
import { compare } from '../precedence.ts'
import { BUCKETS, bucketKey, routesInBucket } from '../listeners/buckets.ts'
import { routePlan } from './route-plan.ts'

/** Kinds whose connections are only distinguished by server name: the older of two conflicting routes gets all. */
const CONNECTION_KINDS: readonly RouteKind[] = ['TLSRoute', 'TCPRoute', 'UDPRoute']

interface Claim {
  /** The listener and hostname. */
  place: string
  id: string
  age: string
}

/** The parts of a route that another route has taken. */
interface RouteConflicts {
  /** Set when the whole route is taken. */
  refusal: Unusable | null
  notices: string[]
}

export function conflictsOf(context: Context, id: string, { gateway, listeners }: ParentAttachment): RouteConflicts {
  const kind = id.slice(0, id.indexOf('/'))
  const traffic = kind === 'UDPRoute' ? 'datagrams' : 'connections'
  if (!CONNECTION_KINDS.some((each) => each === kind)) return lostToOtherKind(context, id, gateway, listeners)
  const owners = context.read(connectionOwners, gateway)
  const claims = listeners.flatMap(({ key, hostnames }) =>
    namesOf(hostnames).map((hostname) => ({ key, hostname, owner: owners[placeOf(key, hostname)] ?? id })),
  )
  const notices = claims
    .filter(({ owner }) => owner !== id)
    .map(({ key, hostname, owner }) => {
      const what = hostname === '' ? `all ${traffic}` : `${traffic} for ${hostname}`
      return `${printId(owner)} takes precedence and gets ${what} of listener ${key.slice(key.lastIndexOf('/') + 1)}`
    })
  // The Gateway API accepts such a route even if it gets no connection at all.
  return { refusal: null, notices }
}

function lostToOtherKind(
  context: Context,
  id: string,
  gateway: string,
  listeners: ParentAttachment['listeners'],
): RouteConflicts {
  const refused = context.read(refusedByKind, gateway)
  const notices = listeners.flatMap(({ key }) => {
    const winner = refused[refusedPlace(key, id)]
    const listener = key.slice(key.lastIndexOf('/') + 1)
    return winner === undefined
      ? []
      : [`${printId(winner)} shares a hostname and takes precedence, so listener ${listener} does not serve this route`]
  })
  if (notices.length === 0 || notices.length < listeners.length) return { refusal: null, notices }
  return { refusal: { reason: 'Conflicted', message: notices.join('; ') }, notices: [] }
}

/** The route (`Kind/namespace/name`) that gets the connections for a hostname of a listener. */
const connectionOwners: Query<Record<string, string>> = {
  name: 'connectionOwners',
  compute(context, gateway) {
    const claims = BUCKETS.flatMap((bucket) => context.read(claimsInBucket, bucketKey(gateway, bucket)))
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

/** A route without hostnames matches all hostnames. */
function namesOf(hostnames: readonly string[]): readonly string[] {
  return hostnames.length === 0 ? [''] : hostnames
}

function placeOf(listener: string, hostname: string): string {
  return `${listener} ${hostname}`
}

function printId(id: string): string {
  return id.replace('/', ' ')
}
