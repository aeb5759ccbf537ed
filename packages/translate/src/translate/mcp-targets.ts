import { sectionKey } from '@portico/gateway/ir'
import type { BackendTarget } from '@portico/gateway/ir'
import type { GwBackendSpec } from '../resources/gw-backend.ts'
import { isSelected, type LabelSelector } from '../resources/label-selector.ts'
import { keyOf } from '../resources/resource.ts'
import type { Resource } from '../resources/resource.ts'
import { readService } from '../resources/service.ts'
import type { Context } from './context.ts'
import type { Unusable } from './materials.ts'
import { serviceBackend } from './service.ts'

type McpSpec = NonNullable<GwBackendSpec['mcp']>
type McpTarget = Extract<BackendTarget, { kind: 'mcp' }>['targets'][number]
type Reached = Extract<McpTarget['reached'], { by: 'http' }>

/** How a target is written in a resource: programs of this machine are not, whatever a resource says. */
interface TargetSpec extends Omit<McpSpec['targets'][number], 'static' | 'stdio' | 'openapi'> {
  static?: {
    host?: string
    backendRef?: { name: string }
    port: number
    path?: string
    protocol: Reached['protocol']
  }
  selector?: { namespaces?: Partial<LabelSelector>; services?: Partial<LabelSelector> }
}

/** Protocols of ports that speak MCP. */
const PROTOCOLS: Readonly<Record<string, Reached['protocol']>> = {
  'portico.dev/mcp': 'StreamableHTTP',
  'portico.dev/mcp-sse': 'SSE',
}

/** Says where the endpoint of a Service is. */
const PATH_ANNOTATION = 'portico.dev/mcp-path'

interface Place {
  namespace: string
  key: string
}

export function mcpTargets(context: Context, place: Place, { targets, ...config }: McpSpec): BackendTarget | Unusable {
  const made: McpTarget[] = []
  for (const target of targets as unknown as TargetSpec[]) {
    const { selector, static: remote } = target
    const reached =
      selector !== undefined
        ? selectedServers(context, place.namespace, selector)
        : [{ name: target.name, reached: remote === undefined ? NOWHERE : remoteServer(context, place, remote) }]
    for (const server of reached) {
      if ('reason' in server.reached) return server.reached
      const { tools = null, timeouts } = target
      const key = sectionKey(place.key, server.name)
      made.push({ key, name: server.name, reached: server.reached, tools, timeouts })
    }
  }
  const twin = made.find(({ name }, index) => made.findIndex((other) => other.name === name) !== index)
  if (twin !== undefined) return { reason: 'BackendError', message: `two MCP targets are named ${twin.name}` }
  return { kind: 'mcp', ...config, targets: made }
}

const NOWHERE: Unusable = { reason: 'BackendError', message: 'an MCP target leads nowhere' }

function remoteServer(context: Context, place: Place, remote: NonNullable<TargetSpec['static']>): Reached | Unusable {
  const { host, backendRef, port, protocol, path = pathOf(protocol) } = remote
  if (host !== undefined) return { by: 'http', host, port, path, protocol }
  const found = context.read(serviceBackend, `${place.namespace}/${backendRef?.name ?? ''}/${port}`)
  if ('reason' in found) return found
  return { by: 'http', host: hostOf(context, place.namespace, backendRef?.name ?? ''), port, path, protocol }
}

interface Server {
  name: string
  reached: Reached
}

/** Every port of a selected Service whose protocol says that it speaks MCP. */
function selectedServers(
  context: Context,
  own: string,
  { namespaces, services }: NonNullable<TargetSpec['selector']>,
): Server[] {
  const places = namespaces === undefined ? [own] : selected(context.list('Namespace'), namespaces).map(keyOf)
  const found = places.flatMap((namespace) => {
    const all = context.list('Service', { by: 'namespace', value: namespace })
    return (services === undefined ? all : selected(all, services)).flatMap((service) => serversOf(context, service))
  })
  // Services of one name in several namespaces are told apart by these.
  const isTwin = ({ name }: Server): boolean => found.filter((other) => other.server.name === name).length > 1
  return found.map(({ namespace, server }) =>
    isTwin(server) ? { ...server, name: `${namespace}-${server.name}` } : server,
  )
}

function serversOf(context: Context, service: Resource): { namespace: string; server: Server }[] {
  const { name, namespace = '', annotations } = service.metadata
  return readService(service).ports.flatMap(({ port, name: portName, appProtocol }) => {
    const protocol = PROTOCOLS[appProtocol ?? '']
    if (protocol === undefined) return []
    const path = annotations?.[PATH_ANNOTATION] ?? pathOf(protocol)
    const reached: Reached = { by: 'http', host: hostOf(context, namespace, name), port, path, protocol }
    return [{ namespace, server: { name: `${name}-${portName === '' ? port : portName}`, reached } }]
  })
}

function selected(resources: readonly Resource[], selector: Partial<LabelSelector>): Resource[] {
  const { matchLabels = {}, matchExpressions = [] } = selector
  const whole = {
    matchLabels,
    matchExpressions: matchExpressions.map((each) => ({ ...each, values: each.values ?? [] })),
  }
  return resources.filter(({ metadata }) => isSelected(metadata.labels ?? {}, whole))
}

function hostOf({ settings }: Context, namespace: string, name: string): string {
  return `${name}.${namespace}.svc.${settings.clusterDomain}`
}

function pathOf(protocol: Reached['protocol']): string {
  return protocol === 'SSE' ? '/sse' : '/mcp'
}
