import type { PeerState } from '../peers/peer-messages.ts'
import type { GatewayState } from '../status/gateway-status-tracker.ts'
import type { DataPlane } from './data-plane.ts'
import type { GatewayFeed } from './gateway-feed.ts'

/** A Gateway with its config and its connected data planes. */
export interface ServedGateway {
  feed: GatewayFeed
  dataPlanes: Set<DataPlane>
  /** The data plane that rejected a config last. */
  refusing: DataPlane | null
  told: GatewayState
}

export const NOBODY: GatewayState = { connected: 0, acknowledged: false, problems: [] }

export function stateOf({ feed, dataPlanes, refusing }: ServedGateway): GatewayState {
  const all = [...dataPlanes]
  const generation = feed.problem === null ? feed.config?.generation : undefined
  const acknowledged = generation !== undefined && all.some((one) => one.isServing && one.acknowledged === generation)
  const notServing = all.filter((one) => !one.isServing).length
  const counts = { connected: all.length, ...(notServing > 0 && { notServing }) }
  if (feed.problem !== null) return { ...counts, acknowledged, problems: [feed.problem] }
  const refuser =
    all.find((one) => one === refusing && one.problems.length > 0) ?? all.find((one) => one.problems.length > 0)
  // Prefer the report of a data plane that runs the newest config.
  const newest = all.filter((one) => one.acknowledged === generation)
  const quarantined = (newest.length > 0 ? newest : all).find((one) => one.quarantined.length > 0)?.quarantined
  return {
    ...counts,
    acknowledged,
    problems: refuser?.problems ?? [],
    ...(quarantined !== undefined && { quarantined }),
  }
}

/** The state for other controllers, which know the newest config themselves. */
export function peerStateOf(served: ServedGateway): PeerState | null {
  const { connected, notServing, problems, quarantined } = stateOf(served)
  const acknowledged = [...served.dataPlanes].flatMap((one) => (one.isServing && one.acknowledged) || [])
  if (connected === 0) return null
  const running = [...new Set(acknowledged)].toSorted()
  return {
    connected,
    ...(notServing !== undefined && { notServing }),
    acknowledged: running,
    problems,
    ...(quarantined !== undefined && { quarantined }),
  }
}

export function isSameState(one: GatewayState, other: GatewayState): boolean {
  return (
    one.connected === other.connected &&
    one.notServing === other.notServing &&
    one.acknowledged === other.acknowledged &&
    JSON.stringify(one.quarantined) === JSON.stringify(other.quarantined) &&
    one.problems.length === other.problems.length &&
    one.problems.every((problem, index) => problem === other.problems[index])
  )
}
