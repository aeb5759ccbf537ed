import { readGateway } from '../../resources/gateway.ts'
import type { ListenerSetKind } from '../../resources/kinds.ts'
import type { ListenerSpec } from '../../resources/listener.ts'
import { readListenerSet } from '../../resources/listener-set.ts'
import type { Context, Query } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { frontendClaim } from './frontend-claims.ts'
import { listenerSetsOf } from './listener-sets.ts'
import { membersOf, sharedPlaneOf } from './shared-data-plane.ts'

type Conflict = 'HostnameConflict' | 'ProtocolConflict' | 'PortUnavailable'

export interface ListenerConflict extends Unusable {
  reason: Conflict
}

/** The owner of listeners: a Gateway or a ListenerSet, as `Kind/namespace/name`. */
type Owner = `${'Gateway' | ListenerSetKind}/${string}`

interface ClaimedListener {
  spec: ListenerSpec
  gateway: string
  owner: Owner
}

/**
 * The conflicts of the listeners of a Gateway with earlier listeners of its data plane, by `conflictPlace`. The listeners
 * of an older Gateway come first, and those of a Gateway before those of its ListenerSets.
 */
export const conflictsOfListeners: Query<Record<string, ListenerConflict>> = {
  name: 'conflictsOfListeners',
  compute(context, gateway) {
    const plane = context.read(sharedPlaneOf, gateway)
    return plane === null ? findConflicts(context, [gateway]) : context.read(conflictsOfPlane, plane)
  },
}

const conflictsOfPlane: Query<Record<string, ListenerConflict>> = {
  name: 'conflictsOfPlane',
  compute: (context, plane) => findConflicts(context, context.read(membersOf, plane)),
}

/** The place of a listener in `conflictsOfListeners`. */
export function conflictPlace(owner: Owner, index: number): string {
  return `${owner} ${index}`
}

function findConflicts(context: Context, gateways: readonly string[]): Record<string, ListenerConflict> {
  const found: Record<string, ListenerConflict> = {}
  const taken: ClaimedListener[] = []
  for (const gateway of gateways) {
    for (const { owner, specs } of context.read(listenersAsWritten, gateway)) {
      for (const [index, spec] of specs.entries()) {
        const conflict = conflictOf(context, { spec, gateway, owner }, taken)
        if (conflict !== null) found[conflictPlace(owner, index)] = conflict
        // A listener that can never be served takes nothing from the listeners of other Gateways.
        else if (gateways.length === 1 || (spec.port !== 0 && PROTOCOLS.includes(spec.protocol))) {
          taken.push({ spec, gateway, owner })
        }
      }
    }
  }
  return found
}

const PROTOCOLS: readonly string[] = ['HTTP', 'HTTPS', 'TLS', 'TCP', 'UDP']

/** The listeners of a Gateway and its ListenerSets. A separate query, because most changes keep them. */
const listenersAsWritten: Query<{ owner: Owner; specs: ListenerSpec[] }[]> = {
  name: 'listenersAsWritten',
  compute(context, gateway) {
    const resource = context.get('Gateway', gateway)
    if (resource === undefined) return []
    const sets = context.read(listenerSetsOf, gateway).flatMap(({ kind, key }) => {
      const set = context.get(kind, key)
      return set === undefined ? [] : [{ owner: `${kind}/${key}` as const, specs: readListenerSet(set).listeners }]
    })
    return [{ owner: `Gateway/${gateway}` as const, specs: readGateway(resource).listeners }, ...sets]
  },
}

/** The conflict with an earlier listener of the same port. */
function conflictOf(
  context: Context,
  { spec, gateway }: ClaimedListener,
  taken: readonly ClaimedListener[],
): ListenerConflict | null {
  // Ports of UDP are apart from those of TCP.
  const isUdp = spec.protocol === 'UDP'
  const neighbours = taken.filter((other) => other.spec.port === spec.port && (other.spec.protocol === 'UDP') === isUdp)
  const fail = (winner: ClaimedListener, reason: Conflict, what: string): ListenerConflict => ({
    reason,
    message:
      winner.gateway === gateway
        ? `Another listener of port ${spec.port} takes precedence, because their ${what}s conflict`
        : `Listener ${winner.spec.name} of ${winner.owner.replace('/', ' ')} takes precedence on port ${spec.port} of the shared data plane, because their ${what}s conflict`,
  })
  const other = neighbours.find(({ spec: { protocol } }) => layerOf(protocol) !== layerOf(spec.protocol))
  if (other !== undefined) return fail(other, 'ProtocolConflict', 'protocol')
  const rival = neighbours.find(({ spec: { hostname } }) => hostname === spec.hostname)
  if (rival !== undefined) return fail(rival, 'HostnameConflict', 'hostname')
  const [holder] = neighbours
  return holder === undefined || holder.gateway === gateway ? null : portClaim(context, gateway, holder)
}

/**
 * Settings for connections hold for whole ports, before a hostname is known. So a Gateway with such settings shares its ports
 * with no other Gateway.
 */
function portClaim(
  context: Context,
  gateway: string,
  { gateway: holder, spec }: ClaimedListener,
): ListenerConflict | null {
  const claim = context.read(frontendClaim, holder)
  const own = claim === null ? context.read(frontendClaim, gateway) : null
  if (claim === null && own === null) return null
  const whose =
    claim === null
      ? `the settings for connections of GwPolicy ${own} would hold for both`
      : `its settings for connections (GwPolicy ${claim}) would hold for both`
  return {
    reason: 'PortUnavailable',
    message: `Gateway ${holder} uses port ${spec.port} of the shared data plane, and ${whose}: use another port`,
  }
}

/** The protocol layer; HTTPS and TLS share a port, because server names separate them. */
function layerOf(protocol: string): string {
  return protocol === 'HTTPS' ? 'TLS' : protocol
}
