import { createHash } from 'node:crypto'
import type { BackendServices } from './backends.ts'
import { connectionSettings } from './connection.ts'
import type { PolicyIndex } from '../ir/merge.ts'
import type { Backend } from '../ir/resources.ts'
import { proxyCredentials } from '../policies/backend/tunnel/credentials.ts'
import type { BackendPolicies } from '../policies/index.ts'
import { Destination } from '../upstream/destination.ts'
import { createTunnel, type Tunnel } from '../upstream/tunnel.ts'

export interface TunnelParts {
  backendsByKey: ReadonlyMap<string, Backend>
  policies: PolicyIndex
  services: BackendServices
}

/** What connections to the backend go through. Throws on what cannot work: compiling is the check of a config. */
export function compileTunnel(backend: Backend, proxyKey: string, parts: TunnelParts): Tunnel {
  const problem = problemOf(backend)
  if (problem !== null) throw new Error(`backend ${backend.name}: ${problem}`)
  const proxy = parts.backendsByKey.get(proxyKey)!
  try {
    return tunnelThrough(proxy, proxyPolicies(proxyKey, parts.policies), parts.services)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`backend ${backend.name}: tunnel through ${proxy.name}: ${reason}`, { cause: error })
  }
}

function problemOf({ target }: Backend): string | null {
  switch (target.kind) {
    case 'static':
    case 'ai':
    case 'agentCore':
    case 'mcp':
      return null
    case 'unix':
      return 'a socket file cannot be reached through a tunnel'
    case 'dynamicForwardProxy':
      // The guard judges addresses, and only the proxy would know them.
      return 'a dynamic forward proxy cannot go through a tunnel, because nothing could keep clients out of private networks'
  }
}

function tunnelThrough(proxy: Backend, policies: BackendPolicies, services: BackendServices): Tunnel {
  if (policies.tunnel !== undefined) throw new Error('the proxy has a tunnel itself, and tunnels do not nest')
  const { target } = proxy
  if (target.kind !== 'static' && target.kind !== 'unix') throw new Error('the proxy must be a fixed destination')
  const { resolver, pools, endpoints, upstream } = services
  return createTunnel({
    name: proxy.name,
    key: createHash('sha256')
      .update(JSON.stringify([proxy, policies]))
      .digest('hex'),
    credentials: proxyCredentials(policies.auth),
    proxy: new Destination({
      backend: proxy,
      address: target.kind === 'unix' ? { path: target.path } : { host: target.host, port: target.port },
      settings: connectionSettings(policies, upstream),
      guard: null,
      resolver,
      pools,
      endpoints,
    }),
  })
}

/** Credentials and tunnels that the whole gateway has are for backends, and none of the business of a proxy to them. */
function proxyPolicies(key: string, policies: PolicyIndex): BackendPolicies {
  const general = policies.backend({ listener: '', route: '', parent: '', backend: '', entry: '' })
  const { auth, tunnel, ...rest } = policies.backend({ listener: '', route: '', parent: '', backend: key, entry: key })
  return {
    ...rest,
    ...(auth !== general.auth && { auth }),
    ...(tunnel !== general.tunnel && { tunnel }),
  }
}
