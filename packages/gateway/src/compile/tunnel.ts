import { createHash } from 'node:crypto'
import { backendOf, type BackendServices, type TunnelParts } from './services.ts'
import { connectionSettings } from './connection.ts'
import type { PolicyIndex } from '../ir/merge.ts'
import type { Backend } from '../ir/resources.ts'
import { ConfigFault } from '../pipeline/compiled/config-fault.ts'
import { proxyCredentials } from '../policies/backend/tunnel/credentials.ts'
import type { BackendPolicies } from '../policies/index.ts'
import { createTunnel, Destination, type Tunnel } from '@portico/http/client'

type TunnelConfig = NonNullable<BackendPolicies['tunnel']>

/**
 * The tunnel for connections to a backend. Throws a `ConfigFault` for a tunnel that cannot work, because compiling
 * checks the config.
 */
export function compileTunnel(backend: Backend, config: TunnelConfig, parts: TunnelParts): Tunnel {
  const problem = problemOf(backend)
  if (problem !== null) {
    throw new ConfigFault(config, [], { found: `found a tunnel for ${backend.name}`, expected: problem })
  }
  if (config.hbone !== undefined) return parts.services.hbone.tunnel(config.hbone)
  const proxyKey = config.backendRef.name
  const proxy = backendOf(parts.backendsByKey, proxyKey)
  const policies = proxyPolicies(proxyKey, parts.policies)
  const { target } = proxy
  if (target.kind !== 'static' && target.kind !== 'service' && target.kind !== 'unix') {
    const found = `found ${proxy.name}, which is not a fixed destination`
    throw new ConfigFault(config, ['backendRef'], { found, expected: 'a proxy with an address' })
  }
  if (policies.tunnel !== undefined) {
    const found = `found a tunnel of ${proxy.name}, which is the proxy of ${backend.name}`
    throw new ConfigFault(policies.tunnel, [], { found, expected: 'one tunnel, because tunnels do not nest' })
  }
  return tunnelThrough({ ...proxy, target }, policies, parts.services)
}

/** The requirement that the backend of a tunnel violates; null when the backend is valid. */
function problemOf({ target }: Backend): string | null {
  switch (target.kind) {
    case 'static':
    case 'service':
    case 'invalid':
    case 'ai':
    case 'agentCore':
    case 'mcp':
      return null
    case 'inferencePool':
      return 'a fixed destination: the members of an inference pool are called directly'
    case 'unix':
      return 'a host and port: a socket file cannot be reached through a tunnel'
    case 'dynamicForwardProxy':
      // The address guard needs the resolved addresses, which only the proxy would know.
      return 'a fixed destination: through a tunnel, a dynamic forward proxy could not keep clients out of private networks'
  }
}

type FixedBackend = Backend & { target: Extract<Backend['target'], { kind: 'static' | 'service' | 'unix' }> }

function tunnelThrough(proxy: FixedBackend, policies: BackendPolicies, services: BackendServices): Tunnel {
  const { target } = proxy
  const { pools, endpoints, upstream, hbone } = services
  const isService = target.kind === 'service'
  const resolver = isService ? services.addresses.resolverOf(proxy.key) : services.resolver
  return createTunnel({
    name: proxy.name,
    key: createHash('sha256')
      .update(JSON.stringify([proxy, policies]))
      .digest('hex'),
    credentials: proxyCredentials(policies.auth),
    proxy: new Destination({
      backend: proxy,
      address:
        target.kind === 'unix'
          ? { path: target.path }
          : { host: target.host, port: target.port, ...(isService && { named: true }) },
      settings: connectionSettings(policies, upstream),
      guard: null,
      resolver,
      pools,
      endpoints,
      hbone,
    }),
  })
}

/**
 * The policies for connections to the proxy. Credentials and tunnels of the whole gateway are for backends, not for
 * proxies.
 */
function proxyPolicies(key: string, policies: PolicyIndex): BackendPolicies {
  const general = policies.backend({ listener: '', route: '', parent: '', backend: '', entry: '' })
  const { auth, tunnel, ...rest } = policies.backend({ listener: '', route: '', parent: '', backend: key, entry: key })
  return {
    ...rest,
    ...(auth !== general.auth && { auth }),
    ...(tunnel !== general.tunnel && { tunnel }),
  }
}
