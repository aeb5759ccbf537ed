import {
  aiTarget,
  awsTarget,
  dynamicTarget,
  HTTPS_PORT,
  poolTarget,
  sectionKey,
  staticTarget,
} from '../ir/backend-targets.ts'
import type {
  AttachedPolicy,
  Backend,
  BackendTarget,
  Ir,
  McpReached,
  Route,
  RouteMatch,
  ValueMatch,
} from '../ir/resources.ts'
import { OfferedTools } from '../mcp/offered-tools.ts'
import type { BackendPolicies } from '../policies/index.ts'
import { backendKey } from '../schema/fields/references.ts'
import { type DescribedBackends, targetName } from '../ir/backend-targets.ts'
import type { NamedBackendConfig } from './backends/schema.ts'
import type { BindConfig, ListenerConfig } from './binds/schema.ts'
import type { ReadApis } from './mcp/read-apis.ts'
import type { RouteConfig } from './routes/schema.ts'
import { attachTargeted, targetKey } from './policies/attach.ts'
import type { ConfigFile } from './schema.ts'

/** Results of the checks that translation needs. */
interface Findings {
  /** The backends that policies define inline. */
  backends: DescribedBackends
  toolsOf: ReadApis['toolsOf']
}

/** Translates the checked file to flat resources. A part that was translated before at the same place keeps its objects. */
export function translate(config: ConfigFile, { backends: more, toolsOf }: Findings): Ir {
  const ir: Ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }
  const hostsByBackend = new Map(config.backends.map(({ name, static: fixed }) => [backendKey(name), fixed?.host]))
  const known: TargetContext = { hostsByBackend, toolsOf }
  ir.policies.push(attachment({ target: { kind: 'gateway' }, frontend: config.frontend }))
  for (const backend of config.backends)
    add(
      ir,
      madeOf(backend, '', () => namedBackendResources(backend, known)),
    )
  for (const { backend, policies } of more)
    add(ir, { backends: [backend], policies: backendPolicy(backend.key, policies) })
  for (const [index, bind] of config.binds.entries()) addBind(bind, index)
  // Nearer attachments come later, and of two policies for one object the first in the file is the nearer.
  const targeted = config.policies.toReversed().flatMap((policy) => attachTargeted(policy, { ir, config }))
  const isForRule = ({ target }: AttachedPolicy): boolean => target.kind === 'rule'
  // A policy inside of an object is nearer than one that targets the object; a policy of a route is farther than one that targets its rule.
  ir.policies.unshift(...targeted.filter((policy) => !isForRule(policy)))
  ir.policies.push(...targeted.filter(isForRule))
  return ir

  function addBind(bind: BindConfig, index: number): void {
    const place = { port: bind.port, address: bind.address ?? '' }
    const keys = { tcp: '', udp: '' }
    for (const transport of ['tcp', 'udp'] as const) {
      if (!hasTransport(bind, transport)) continue
      const isSame = (other: BindConfig): boolean => other.port === bind.port && hasTransport(other, transport)
      const prefix = transport === 'udp' ? 'bind/udp' : 'bind'
      // Several binds may ask for any free port.
      const key =
        config.binds.findIndex(isSame) === index ? `${prefix}/${bind.port}` : `${prefix}/${bind.port}~${index}`
      ir.binds.push({ key, ...place, ...(transport === 'udp' && { transport }) })
      keys[transport] = key
    }
    for (const [position, listener] of bind.listeners.entries()) {
      addListener(listener, keys[transportOf(listener)], position)
    }
  }

  function addListener(config: ListenerConfig, bind: string, position: number): void {
    const name = config.name ?? `listener${position}`
    const key = `${bind}/${name}`
    const { protocol, hostname = '', tls } = config
    const listenerTls = tls === undefined ? null : { ...tls, root: tls.root ?? null }
    ir.listeners.push({ key, bind, name, hostname, protocol, tls: listenerTls })
    if (config.policies !== undefined) {
      const { phase, ...traffic } = config.policies
      ir.policies.push(attachment({ target: { kind: 'listener', key }, phase, traffic }))
    }
    const hasMatches = protocol === 'HTTP' || protocol === 'HTTPS'
    for (const [order, route] of config.routes.entries()) {
      const place = { listener: key, name: route.name ?? `route${order}`, hasMatches }
      add(
        ir,
        madeOf(route, `${key}/${place.name} ${hasMatches}`, () => routeResources(route, place, known)),
      )
    }
  }
}

function hasTransport({ listeners }: BindConfig, transport: 'tcp' | 'udp'): boolean {
  return listeners.some((listener) => transportOf(listener) === transport)
}

function transportOf({ protocol }: ListenerConfig): 'tcp' | 'udp' {
  return protocol === 'UDP' ? 'udp' : 'tcp'
}

/** The resources of one part of the file. */
interface Resources {
  routes?: Route[]
  backends: Backend[]
  policies: AttachedPolicy[]
}

function add(ir: Ir, { routes, backends, policies }: Resources): void {
  if (routes !== undefined) ir.routes.push(...routes)
  ir.backends.push(...backends)
  ir.policies.push(...policies)
}

const madeByConfig = new WeakMap<object, { place: string; resources: Resources }>()

function madeOf(config: NamedBackendConfig | RouteConfig, place: string, make: () => Resources): Resources {
  const known = madeByConfig.get(config)
  if (known?.place === place) return known.resources
  const resources = make()
  // MCP targets also depend on other parts, so they are not cached.
  if (!resources.backends.some(({ target }) => target.kind === 'mcp')) madeByConfig.set(config, { place, resources })
  return resources
}

function namedBackendResources(backend: NamedBackendConfig, known: TargetContext): Resources {
  const key = backendKey(backend.name)
  return {
    backends: [{ key, name: backend.name, target: namedTarget(backend, key, known) }],
    policies: [...partPolicies(backend, key), ...backendPolicy(key, backend.policies)],
  }
}

function routeResources(
  config: RouteConfig,
  { listener, name, hasMatches }: { listener: string; name: string; hasMatches: boolean },
  known: TargetContext,
): Resources {
  const rule = config.ruleName ?? ''
  const parent = `${listener}/${name}`
  const key = rule === '' ? parent : `${parent}/${rule}`
  const matches = hasMatches ? (config.matches?.map(toMatch) ?? [everything()]) : []
  const { labels, hostnames } = config
  const entries = config.backends.map((entry, index) => {
    const entryKey = `${key}/backend/${index}`
    return { key: entryKey, backend: entry.backend ?? entryKey, weight: entry.weight }
  })
  const route: Route = { key, listener, name, rule, labels, hostnames, matches, backends: entries }
  const backends: Backend[] = []
  const policies: AttachedPolicy[] = []
  if (config.policies !== undefined) {
    const { backend, ...traffic } = config.policies
    policies.push(attachment({ target: { kind: 'rule', key }, traffic, backend: backend ?? null }))
  }
  for (const [index, entry] of config.backends.entries()) {
    // One string for all references to the entry, because each concatenation would be another string in memory.
    const entryKey = entries[index]?.key ?? ''
    const inline = inlineTarget(entry, entryKey, known)
    if (inline !== undefined) backends.push({ key: entryKey, name: targetName(inline), target: inline })
    policies.push(...partPolicies(entry, entryKey), ...backendPolicy(entryKey, entry.policies))
  }
  // Copies a list without spare capacity.
  return { routes: [route], backends: backends.slice(), policies: policies.slice() }
}

/** Policies inside of a provider or a target. */
function partPolicies(
  { ai, mcp }: { ai?: AiConfig | undefined; mcp?: McpConfig | undefined },
  key: string,
): AttachedPolicy[] {
  if (ai === undefined && mcp === undefined) return []
  const providers = ai?.models ?? ai?.groups?.flatMap((group) => group.providers) ?? []
  return [
    ...providers.flatMap(({ name, policies }) => backendPolicy(sectionKey(key, name), policies)),
    ...(mcp?.targets ?? []).flatMap(({ name, static: remote, openapi }) =>
      backendPolicy(sectionKey(key, name), remote?.policies ?? openapi?.policies),
    ),
  ]
}

function backendPolicy(key: string, policies: BackendPolicies | undefined): AttachedPolicy[] {
  return policies === undefined ? [] : [attachment({ target: { kind: 'backend', key }, backend: policies })]
}

export function attachment(policy: Pick<AttachedPolicy, 'target'> & Partial<AttachedPolicy>): AttachedPolicy {
  const key = `inline/${targetKey(policy.target)}`
  return { key, frontend: null, traffic: null, phase: 'PostRouting', backend: null, ...policy }
}

function namedTarget(backend: NamedBackendConfig, key: string, known: TargetContext): BackendTarget {
  if (backend.ai !== undefined) return aiTarget(backend.ai, key)
  if (backend.mcp !== undefined) return mcpTarget(backend.mcp, key, known)
  if (backend.aws !== undefined) return awsTarget(backend.aws)
  if (backend.inferencePool !== undefined) return poolTarget(backend.inferencePool)
  if (backend.dynamicForwardProxy !== undefined) return dynamicTarget(backend.dynamicForwardProxy)
  return staticTarget(backend.static)
}

type EntryConfig = RouteConfig['backends'][number]
type AiConfig = NonNullable<EntryConfig['ai']>
type McpConfig = NonNullable<EntryConfig['mcp']>

/** The hosts and tools that MCP targets refer to. */
interface TargetContext {
  hostsByBackend: ReadonlyMap<string, string | undefined>
  toolsOf: ReadApis['toolsOf']
}

/** The backend that an entry of a route defines inline. */
function inlineTarget(
  { host, dynamicForwardProxy, inferencePool, ai, mcp, aws }: EntryConfig,
  key: string,
  known: TargetContext,
): BackendTarget | undefined {
  if (ai !== undefined) return aiTarget(ai, key)
  if (mcp !== undefined) return mcpTarget(mcp, key, known)
  if (aws !== undefined) return awsTarget(aws)
  if (inferencePool !== undefined) return poolTarget(inferencePool)
  return host ?? (dynamicForwardProxy && dynamicTarget(dynamicForwardProxy))
}

function mcpTarget({ targets, ...config }: McpConfig, key: string, known: TargetContext): BackendTarget {
  return {
    kind: 'mcp',
    ...config,
    targets: targets.map((target) => ({
      key: sectionKey(key, target.name),
      name: target.name,
      reached: mcpReached(target, known),
      tools: target.tools ?? null,
      timeouts: target.timeouts,
    })),
  }
}

function mcpReached(
  { static: remote, stdio, openapi, tools }: McpConfig['targets'][number],
  { hostsByBackend: hosts, toolsOf }: TargetContext,
): McpReached {
  if (stdio !== undefined) return { by: 'stdio', ...stdio }
  if (openapi !== undefined) {
    const { host, backendRef, port = HTTPS_PORT } = openapi
    const read = toolsOf.get(openapi)
    if (read === undefined) throw new Error('an API was not read')
    // Workers only get the tools that are offered.
    const offered = tools === undefined ? null : new OfferedTools(tools)
    const operations = read.operations.filter(({ tool }) => offered?.isOffered(tool.name) ?? true)
    return { by: 'openapi', host: host ?? hosts.get(backendRef.name) ?? '', port, tools: { ...read, operations } }
  }
  const { host, backendRef, port = HTTPS_PORT, protocol, path = protocol === 'SSE' ? '/sse' : '/mcp' } = remote
  return { by: 'http', host: host ?? hosts.get(backendRef.name) ?? '', port, path, protocol }
}

type MatchConfig = NonNullable<RouteConfig['matches']>[number]

function toMatch(config: MatchConfig): RouteMatch {
  const { exact, pathPrefix, regex } = config.path
  const path: RouteMatch['path'] =
    exact !== undefined
      ? { kind: 'exact', value: exact }
      : regex !== undefined
        ? { kind: 'regex', value: regex }
        : { kind: 'pathPrefix', value: pathPrefix ?? '/' }
  return {
    path,
    method: config.method ?? null,
    headers: config.headers.map(toValueMatch),
    query: config.query.map(toValueMatch),
  }
}

function toValueMatch({ name, value }: MatchConfig['headers'][number]): ValueMatch {
  return value.regex === undefined
    ? { name, kind: 'exact', value: value.exact }
    : { name, kind: 'regex', value: value.regex }
}

function everything(): RouteMatch {
  return { path: { kind: 'pathPrefix', value: '/' }, method: null, headers: [], query: [] }
}
