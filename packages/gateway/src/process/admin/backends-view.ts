import { formatHostPort } from '../../admin/address.ts'
import type { BackendsView, ViewedBackend, ViewedError, ViewedPart } from '../../admin/config-view.ts'
import type { AiProvider, Backend, Ir, McpTarget } from '../../ir/resources.ts'
import type { EndpointStates } from './endpoint-states.ts'

interface BackendFacts {
  endpoints: EndpointStates
  /** Returns the last error of a target of a backend. */
  errorOf: (backend: string, target: string) => ViewedError | null
}

/** `viewBackends` lists the backends with their addresses, the health of their endpoints and their last errors. */
export function viewBackends(ir: Ir, generation: number, facts: BackendFacts): BackendsView {
  const { unheard } = facts.endpoints
  return { generation, unheard, backends: ir.backends.map((backend) => viewBackend(backend, facts)) }
}

function viewBackend({ key, name, target }: Backend, facts: BackendFacts): ViewedBackend {
  const endpoints = facts.endpoints.of(key)
  const plain = { key, name, kind: target.kind, at: '', groups: [], activeGroup: null, endpoints }
  switch (target.kind) {
    case 'static':
    case 'service':
      return { ...plain, at: formatHostPort(target.host, target.port) }
    case 'unix':
      return { ...plain, at: `unix:${target.path}` }
    case 'inferencePool':
      return { ...plain, at: poolAddress(target) }
    case 'agentCore':
      return { ...plain, at: target.arn }
    case 'invalid':
      return { ...plain, at: target.reason }
    case 'dynamicForwardProxy':
      return { ...plain, at: 'the host that the request names' }
    case 'ai': {
      const groups = target.groups.map((group) => group.map((provider) => viewProvider(provider, key, facts)))
      // Endpoint states under the key of the backend belong to its providers, which are listed in the groups.
      return { ...plain, endpoints: [], groups, activeGroup: activeGroup(groups) }
    }
    case 'mcp':
      return { ...plain, groups: [target.targets.map((part) => viewTarget(part, key, facts))] }
  }
}

function poolAddress({ endpoints }: Extract<Backend['target'], { kind: 'inferencePool' }>): string {
  if (endpoints === null) return 'the ready Pods of the pool'
  return endpoints.map(({ host, port }) => formatHostPort(host, port)).join(', ')
}

/** The index of the first group with a provider that is not evicted; 0 when all are evicted, as the first group is used then. */
function activeGroup(groups: readonly (readonly ViewedPart[])[]): number | null {
  if (groups.length === 0) return null
  const usable = groups.findIndex((group) => group.some(({ health }) => health?.state !== 'evicted'))
  return Math.max(0, usable)
}

function viewProvider({ key, name, config }: AiProvider, backend: string, { endpoints }: BackendFacts): ViewedPart {
  const { host, port } = config as { host?: string; port?: number }
  return {
    name,
    kind: kindOf(config),
    at: host === undefined ? '' : formatHostPort(host, port ?? 443),
    health: endpoints.of(backend).find((endpoint) => endpoint.name === name) ?? null,
    endpoints: endpoints.of(key),
    lastError: null,
  }
}

/** The kind of a provider: the key that is not a setting of the call. */
function kindOf(config: object): string {
  return Object.keys(config).find((name) => !SETTINGS.has(name)) ?? ''
}

const SETTINGS = new Set(['host', 'port', 'path', 'pathPrefix'])

function viewTarget({ key, name, reached }: McpTarget, backend: string, facts: BackendFacts): ViewedPart {
  const known = { health: null, endpoints: facts.endpoints.of(key), lastError: facts.errorOf(backend, name) }
  if (reached.by === 'stdio') return { name, kind: 'stdio', at: reached.cmd, ...known }
  if (reached.by === 'http') {
    const at = `${formatHostPort(reached.host, reached.port)}${reached.path}`
    return { name, kind: reached.protocol, at, ...known }
  }
  return { name, kind: reached.by, at: 'host' in reached ? formatHostPort(reached.host, reached.port) : '', ...known }
}
