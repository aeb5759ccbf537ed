import { isIP } from 'node:net'
import type { Resource } from '@portico/translate'
import { portsOf } from './config-file.ts'
import { addressRequests } from './addresses.ts'
import type { TypedParameters } from './parameters.ts'
import type { Servers } from './servers.ts'

/** The port of the Service of a Gateway without listeners. A Service needs a port, and so keeps its load balancer. */
const DUMMY_PORT = 443

export interface Ports {
  used: number[]
  /** The ports of UDP listeners. */
  udp: number[]
  /** Ports that the data plane uses itself, or that are invalid. */
  skipped: number[]
}

/** Returns the ports of the Service, sorted. */
export function usablePorts(
  { tcp: listeners, udp }: { tcp: readonly number[]; udp: readonly number[] },
  typed: TypedParameters,
  servers: Servers,
  problems: string[],
): Ports {
  const raw = portsOf(typed)
  const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535
  const distinct = [...new Set(listeners)].toSorted((a, b) => a - b)
  const isUsable = (port: number): boolean => isPort(port) && !servers.taken.has(port)
  const used = distinct.filter(isUsable)
  // The data plane's own servers use TCP, so UDP listeners may have their numbers.
  const ofUdp = [...new Set(udp)].filter(isPort).toSorted((a, b) => a - b)
  for (const port of new Set(raw)) {
    if (used.includes(port)) problems.push(`rawConfig.binds: port ${port} is one of the Gateway's listeners`)
    if (servers.taken.has(port)) problems.push(`rawConfig.binds: port ${port} is one of the data plane's own servers`)
  }
  if (distinct.length > 0 && used.length === 0) problems.push(`no valid ports: ${distinct.join(', ')}`)
  return {
    used: distinct.length === 0 && ofUdp.length === 0 ? [DUMMY_PORT] : used,
    udp: ofUdp,
    skipped: [...distinct.filter((port) => !isUsable(port)), ...udp.filter((port) => !isPort(port))],
  }
}

/** The address that the Gateway requests, the first of several; null when the platform chooses. */
export function staticAddress(gateway: Resource, problems: string[]): string | null {
  const asked = addressRequests(gateway)
    // An address without a value is chosen by the platform, and one with a scope is not that of a load balancer.
    .filter(({ value, routability }) => value !== '' && routability === '')
  const [first] = asked
  if (first === undefined) return null
  if (first.type !== 'IPAddress')
    problems.push(`spec.addresses: type ${first.type} is not supported, expected IPAddress`)
  else if (isIP(first.value) === 0) problems.push(`spec.addresses: ${JSON.stringify(first.value)} is not an IP address`)
  return first.value
}
