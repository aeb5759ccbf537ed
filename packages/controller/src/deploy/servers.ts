import { textAt } from '@portico/translate/json'
import type { TypedParameters } from './parameters.ts'

/** Ports of the data plane's own servers; null when a server is off, or cannot be reached from outside its Pod. */
export interface Servers {
  metrics: number | null
  readiness: number | null
  /** All of these ports; no listener can use them. */
  taken: ReadonlySet<number>
}

const servers = {
  admin: { variable: 'ADMIN_ADDR', field: 'adminAddr', usual: 'localhost:15000' },
  metrics: { variable: 'STATS_ADDR', field: 'statsAddr', usual: '0.0.0.0:15020' },
  readiness: { variable: 'READINESS_ADDR', field: 'readinessAddr', usual: '0.0.0.0:15021' },
} as const

/** Reads the ports from variables and `rawConfig`, which may change them, so that probes and scrapes use the right ones. */
export function serversOf({ env = [], rawConfig }: TypedParameters): Servers {
  const address = ({ variable, field, usual }: (typeof servers)[keyof typeof servers]): string => {
    // An empty variable counts as unset.
    const set = env.find(({ name, value, valueFrom }) => name === variable && (value || valueFrom))
    return set === undefined ? (textAt(rawConfig, 'config', field) ?? usual) : (set.value ?? '')
  }
  const ports = Object.values(servers).flatMap((server) => portOf(address(server)) ?? [])
  return {
    metrics: reachablePortOf(address(servers.metrics)),
    readiness: reachablePortOf(address(servers.readiness)),
    taken: new Set(ports),
  }
}

function portOf(address: string): number | null {
  const [, port] = /:(\d{1,5})$/.exec(address) ?? []
  return port === undefined ? null : Number(port)
}

function reachablePortOf(address: string): number | null {
  return /^(localhost|127\.[\d.]+|\[::1\]):/.test(address) ? null : portOf(address)
}
