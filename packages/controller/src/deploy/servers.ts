import { textAt } from './json.ts'
import type { Typed } from './parameters.ts'

/** Ports of the data plane's own servers; null for one that cannot be reached from outside of its Pod, or is off. */
export interface Servers {
  metrics: number | null
  readiness: number | null
  /** All of them, which no listener can have. */
  taken: ReadonlySet<number>
}

const servers = {
  admin: { variable: 'ADMIN_ADDR', field: 'adminAddr', usual: 'localhost:15000' },
  metrics: { variable: 'STATS_ADDR', field: 'statsAddr', usual: '0.0.0.0:15020' },
  readiness: { variable: 'READINESS_ADDR', field: 'readinessAddr', usual: '0.0.0.0:15021' },
} as const

/** Variables and `rawConfig` may move them: what watches a Pod goes where they are. */
export function serversOf({ env = [], rawConfig }: Typed): Servers {
  const address = ({ variable, field, usual }: (typeof servers)[keyof typeof servers]): string => {
    // An empty variable is none.
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
