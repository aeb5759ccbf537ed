import type { Environment } from '../sources/substitute.ts'

export interface QuickStartPorts {
  traffic: number
  admin: number
  stats: number
  readiness: number
}

export const usualPorts: QuickStartPorts = { traffic: 3000, admin: 15_000, stats: 15_020, readiness: 15_021 }

/** Which variable of the environment says where else something listens: then it is not for us to choose. */
const VARIABLES: Readonly<Record<keyof QuickStartPorts, string>> = {
  traffic: 'PORT',
  admin: 'ADMIN_ADDR',
  stats: 'STATS_ADDR',
  readiness: 'READINESS_ADDR',
}
const STEP = 100
const TRIES = 10

/** Returns the default ports, or the next free set, so that several quick starts can run at once. */
export async function findFreePorts(
  env: Environment,
  isFree: (port: number) => Promise<boolean>,
): Promise<QuickStartPorts> {
  const open = (Object.keys(VARIABLES) as (keyof QuickStartPorts)[]).filter((name) => !env[VARIABLES[name]])
  for (let offset = 0; offset < TRIES * STEP; offset += STEP) {
    const ports = moved(offset)
    const free = await Promise.all(open.map((name) => isFree(ports[name])))
    if (free.every(Boolean)) return ports
  }
  return usualPorts
}

function moved(offset: number): QuickStartPorts {
  const { traffic, admin, stats, readiness } = usualPorts
  return { traffic: traffic + offset, admin: admin + offset, stats: stats + offset, readiness: readiness + offset }
}
