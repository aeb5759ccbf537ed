import type { PolicyIndex } from '../ir/merge.ts'
import type { Backend } from '../ir/resources.ts'
import type { SharingMap } from '../collections/sharing-map.ts'
import type { Hub } from '../mcp/hub.ts'
import type { Deadlines } from '@portico/http'
import type {
  ConnectionDefaults,
  createAddressGuard,
  Endpoints,
  Hbone,
  Pools,
  Resolver,
  ServiceAddresses,
} from '@portico/http/client'

export interface BackendServices {
  deadlines: Deadlines
  /** State for MCP that all workers share. */
  hub: Hub
  /** The keys that encrypt MCP sessions; the first one is the newest. */
  sessionKeys: () => readonly string[]
  resolver: Resolver
  /** Creates the address guard of a backend whose requests name their destination. */
  addressGuard: typeof createAddressGuard
  pools: Pools
  endpoints: Endpoints
  /** The addresses of Services. */
  addresses: ServiceAddresses
  /** Opens tunnels to workloads of the mesh. */
  hbone: Hbone
  upstream: ConnectionDefaults
  /** Milliseconds of this worker's clock. */
  now: () => number
}

/** The backend with this key. References were checked before, so a missing backend is a bug. */
export function backendOf(backendsByKey: TunnelParts['backendsByKey'], key: string): Backend {
  const backend = backendsByKey.get(key)
  if (backend === undefined) throw new Error(`there is no backend ${key}`)
  return backend
}

export interface TunnelParts {
  backendsByKey: SharingMap<Backend>
  policies: PolicyIndex
  services: BackendServices
}
