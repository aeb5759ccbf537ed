import type { HttpPort } from './model.ts'

/** A port of a part of the source, such as a frontend. */
interface OwnedPort {
  readonly port: HttpPort
  readonly owner: string
  /** Called when another owner has the port already. */
  lost(this: void, first: string): void
}

/** One entry for each port, because a port has one address and one list of rules here. */
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
