import { formatHostPort } from '../admin/address.ts'
import type { BackendsView, ViewedBackend, ViewedPart } from '../admin/config-view.ts'
import type { AiProvider, Backend, Ir, McpTarget } from '../ir/resources.ts'

/** Where requests go, in words. */
export function viewBackends(ir: Ir, generation: number): BackendsView {
  return { generation, backends: ir.backends.map(viewBackend) }
}

function viewBackend({ key, name, target }: Backend): ViewedBackend {
  const plain = { key, name, kind: target.kind, at: '', groups: [] }
  switch (target.kind) {
    case 'static':
    case 'service':
      return { ...plain, at: formatHostPort(target.host, target.port) }
    case 'unix':
      return { ...plain, at: `unix:${target.path}` }
    case 'agentCore':
      return { ...plain, at: target.arn }
    case 'invalid':
      return { ...plain, at: target.reason }
    case 'dynamicForwardProxy':
      return { ...plain, at: 'where the request asks for' }
    case 'ai':
      return { ...plain, groups: target.groups.map((group) => group.map(viewProvider)) }
    case 'mcp':
      return { ...plain, groups: [target.targets.map(viewTarget)] }
  }
}

function viewProvider({ name, config }: AiProvider): ViewedPart {
  const { host, port } = config as { host?: string; port?: number }
  return { name, kind: kindOf(config), at: host === undefined ? '' : formatHostPort(host, port ?? 443) }
}

/** The key that is no setting of the call. */
function kindOf(config: object): string {
  return Object.keys(config).find((name) => !SETTINGS.has(name)) ?? ''
}

const SETTINGS = new Set(['host', 'port', 'path', 'pathPrefix'])

function viewTarget({ name, reached }: McpTarget): ViewedPart {
  if (reached.by === 'stdio') return { name, kind: 'stdio', at: reached.cmd }
  if (reached.by === 'http')
    return { name, kind: reached.protocol, at: `${formatHostPort(reached.host, reached.port)}${reached.path}` }
  return { name, kind: reached.by, at: 'host' in reached ? formatHostPort(reached.host, reached.port) : '' }
}
