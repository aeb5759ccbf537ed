import type { HttpPort } from './model.ts'

/** A port, and the part of the source config that opens it, such as a frontend. */
interface OwnedPort {
  readonly port: HttpPort
  readonly owner: string
  /** Called when an earlier owner already has the port. */
  lost(this: void, first: string): void
}

/**
 * Joins ports with the same number, because a port of the gateway has one address and one list of rules. The port of
 * the first owner is kept.
 */
export function joinPorts(ports: readonly OwnedPort[]): HttpPort[] {
  const found = new Map<number, OwnedPort>()
  for (const each of ports) {
    const first = found.get(each.port.port)
    if (first === undefined) found.set(each.port.port, each)
    else if (first.owner !== each.owner) each.lost(first.owner)
    else if (first.port.address !== each.port.address) {
      found.set(each.port.port, { ...first, port: { ...first.port, address: null } })
    }
  }
  return [...found.values()].map(({ port }) => port)
}
