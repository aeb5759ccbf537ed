import { HTTPS_PORT, sectionKey } from '@portico/gateway/ir'
import type { BackendTarget } from '@portico/gateway/ir'
import type { GwBackendSpec } from '../../resources/gw-backend.ts'
import { isSelected, type LabelSelector } from '../../resources/label-selector.ts'
import { keyOf } from '../../resources/resource.ts'
import type { Resource } from '../../resources/resource.ts'
import { readService } from '../../resources/service.ts'
import type { Context } from '../context.ts'
import type { Unusable } from '../materials.ts'
import { serviceBackend, serviceKey } from './service.ts'

type McpSpec = NonNullable<GwBackendSpec['mcp']>
type McpTarget = Extract<BackendTarget, { kind: 'mcp' }>['targets'][number]
type HttpTarget = Extract<McpTarget['reached'], { by: 'http' }>

/** A target of a resource. Local programs (`stdio`) are not allowed in resources. */
interface TargetSpec extends Omit<McpSpec['targets'][number], 'static' | 'stdio' | 'openapi'> {
  static?: {
    host?: string
    backendRef?: { name: string }
    port?: number
    path?: string
    protocol: HttpTarget['protocol']
  }
  selector?: { namespaces?: Partial<LabelSelector>; services?: Partial<LabelSelector> }
}

/** Values of `appProtocol` of ports that speak MCP. */
const PROTOCOLS: Readonly<Record<string, HttpTarget['protocol']>> = {
  'portico.dev/mcp': 'StreamableHTTP',
  'portico.dev/mcp-sse': 'SSE',
}

/** The annotation with the path of the MCP endpoint of a Service. */
const PATH_ANNOTATION = 'portico.dev/mcp-path'

interface BackendContext {
  namespace: string
  key: string
}

/** The target with the MCP servers of a backend, and messages about Services that were left out. */
interface McpServers {
  target: BackendTarget
  ignored: string[]
}

export function mcpTargets(
  context: Context,
  place: BackendContext,
  { targets, ...config }: McpSpec,
): McpServers | Unusable {
  const made: McpTarget[] = []
  const ignored: string[] = []
  for (const target of targets as unknown as TargetSpec[]) {
    const { selector, static: remote } = target
    const reached =
      selector !== undefined
        ? selectedServers(context, place.namespace, selector, ignored)
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
  return { target: { kind: 'mcp', ...config, targets: made }, ignored }
}

const NOWHERE: Unusable = { reason: 'BackendError', message: 'an MCP target has no destination' }

function remoteServer(
  context: Context,
  place: BackendContext,
  remote: NonNullable<TargetSpec['static']>,
): HttpTarget | Unusable {
  const { host, backendRef, port = HTTPS_PORT, protocol, path = pathOf(protocol) } = remote
  if (host !== undefined) return { by: 'http', host, port, path, protocol }
  const at = `${place.namespace}/${backendRef?.name ?? ''}/${port}`
  const found = context.read(serviceBackend, at)
  if ('reason' in found) return found
  return ofService(context, { namespace: place.namespace, name: backendRef?.name ?? '', port }, { path, protocol })
}

interface Server {
  name: string
  reached: HttpTarget
}

/** Returns every port of a selected Service whose protocol is MCP. */
function selectedServers(
  context: Context,
  own: string,
  { namespaces, services }: NonNullable<TargetSpec['selector']>,
  ignored: string[],
): Server[] {
  const places = namespaces === undefined ? [own] : selectResources(context.list('Namespace'), namespaces).map(keyOf)
  const matching = places.flatMap((namespace) => {
    const all = context.list('Service', { by: 'namespace', value: namespace })
    return services === undefined ? all : selectResources(all, services)
  })
  if (matching.length === 0) ignored.push(`the selector matches no Service ${whereOf(own, namespaces, places)}`)
  const found = matching.flatMap((service) => {
    const servers = serversOf(context, service, ignored)
    // A selector without labels matches every Service of the namespace, so Services without an MCP port are not reported.
    if (servers === null && services !== undefined) ignored.push(withoutProtocol(service))
    return servers ?? []
  })
  // Services of the same name in several namespaces get their namespace as a prefix.
  const isTwin = ({ name }: Server): boolean => found.filter((other) => other.server.name === name).length > 1
  return found.map(({ namespace, server }) =>
    isTwin(server) ? { ...server, name: `${namespace}-${server.name}` } : server,
  )
}

function whereOf(own: string, namespaces: Partial<LabelSelector> | undefined, places: readonly string[]): string {
  if (namespaces === undefined) return `in namespace ${own}`
  return places.length === 0 ? '(no namespace matches)' : `in the ${places.length} matching namespaces`
}

function withoutProtocol({ metadata: { name, namespace = '' } }: Resource): string {
  return `Service ${namespace}/${name} is selected, but none of its ports has an appProtocol of ${Object.keys(PROTOCOLS).join(' or ')}`
}

/** Returns null when no port of the Service speaks MCP. */
function serversOf(
  context: Context,
  service: Resource,
  ignored: string[],
): { namespace: string; server: Server }[] | null {
  const { name, namespace = '', annotations } = service.metadata
  const ports = readService(service).ports.flatMap(({ appProtocol, protocol: transport, ...port }) => {
    const protocol = PROTOCOLS[appProtocol ?? '']
    return protocol === undefined || transport === 'UDP' ? [] : [{ ...port, protocol }]
  })
  if (ports.length === 0) return null
  return ports.flatMap(({ port, name: portName, protocol }) => {
    const found = context.read(serviceBackend, `${namespace}/${name}/${port}`)
    if ('reason' in found) {
      ignored.push(found.message)
      return []
    }
    const path = annotations?.[PATH_ANNOTATION] ?? pathOf(protocol)
    const reached = ofService(context, { namespace, name, port }, { path, protocol })
    return [{ namespace, server: { name: `${name}-${portName === '' ? port : portName}`, reached } }]
  })
}

function selectResources(resources: readonly Resource[], selector: Partial<LabelSelector>): Resource[] {
  const { matchLabels = {}, matchExpressions = [] } = selector
  const whole = {
    matchLabels,
    matchExpressions: matchExpressions.map((each) => ({ ...each, values: each.values ?? [] })),
  }
  return resources.filter(({ metadata }) => isSelected(metadata.labels ?? {}, whole))
}

/** A target at the addresses of a Service, with the policies of the Service. */
function ofService(
  { settings }: Context,
  { namespace, name, port }: { namespace: string; name: string; port: number },
  endpoint: Pick<HttpTarget, 'path' | 'protocol'>,
): HttpTarget {
  const host = `${name}.${namespace}.svc.${settings.clusterDomain}`
  return { by: 'http', host, port, ...endpoint, service: serviceKey(`${namespace}/${name}/${port}`) }
}

function pathOf(protocol: HttpTarget['protocol']): string {
  return protocol === 'SSE' ? '/sse' : '/mcp'
}
