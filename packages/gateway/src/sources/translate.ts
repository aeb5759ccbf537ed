import type {
  AttachedPolicy,
  Backend,
  BackendTarget,
  Ir,
  Listener,
  Route,
  RouteMatch,
  ValueMatch,
} from '../ir/resources.ts'
import type { BackendPolicies } from '../policies/index.ts'
import { parseHostTarget } from '../schema/address.ts'
import { printPath } from '../schema/problem.ts'
import type { Path } from '../schema/problem.ts'
import type { NamedBackendConfig } from './backends/schema.ts'
import type { BindConfig, ListenerConfig } from './binds/schema.ts'
import type { RouteConfig } from './routes/schema.ts'
import type { ConfigFile } from './schema.ts'

/** The checked file as flat resources; paths of certificates are replaced by their contents. */
export function translate(config: ConfigFile, textsByPath: ReadonlyMap<string, string>): Ir {
  const ir: Ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }
  const pem = (path: Path): string => textsByPath.get(printPath(path))!
  attach(ir, { target: { kind: 'gateway' }, frontend: config.frontend })
  for (const [index, backend] of config.backends.entries()) addNamedBackend(backend, ['backends', index])
  for (const [index, bind] of config.binds.entries()) addBind(bind, index)
  return ir

  function addNamedBackend(backend: NamedBackendConfig, path: Path): void {
    const key = `backend/${backend.name}`
    ir.backends.push({ key, name: backend.name, target: namedTarget(backend) })
    attachBackend(key, backend.policies, [...path, 'policies'])
  }

  function addBind(bind: BindConfig, index: number): void {
    const isFirst = config.binds.findIndex((other) => other.port === bind.port) === index
    // Several binds may ask for any free port.
    const key = isFirst ? `bind/${bind.port}` : `bind/${bind.port}~${index}`
    ir.binds.push({ key, port: bind.port, address: bind.address ?? '' })
    for (const [position, listener] of bind.listeners.entries()) {
      addListener(listener, key, ['binds', index, 'listeners', position])
    }
  }

  function addListener(config: ListenerConfig, bind: string, path: Path): void {
    const name = config.name ?? `listener${String(path.at(-1))}`
    const key = `${bind}/${name}`
    const { protocol, hostname = '', tls } = config
    const listener: Listener = { key, bind, name, hostname, protocol, tls: null }
    if (tls !== undefined) {
      const at = [...path, 'tls']
      const root = tls.root === undefined ? null : pem([...at, 'root'])
      listener.tls = { cert: pem([...at, 'cert']), key: pem([...at, 'key']), root }
    }
    ir.listeners.push(listener)
    if (config.policies !== undefined) attach(ir, { target: { kind: 'listener', key }, traffic: config.policies })
    const hasMatches = protocol === 'HTTP' || protocol === 'HTTPS'
    for (const [order, route] of config.routes.entries())
      addRoute(route, { listener: key, order, hasMatches }, [...path, 'routes', order])
  }

  function addRoute(
    config: RouteConfig,
    place: { listener: string; order: number; hasMatches: boolean },
    path: Path,
  ): void {
    const { listener, order } = place
    const name = config.name ?? `route${order}`
    const key = `${listener}/${name}`
    const matches = place.hasMatches ? (config.matches?.map(toMatch) ?? [everything()]) : []
    const route: Route = { key, listener, name, order, hostnames: config.hostnames, matches, backends: [] }
    ir.routes.push(route)
    if (config.policies !== undefined) addRoutePolicies(key, config.policies, [...path, 'policies'])
    for (const [index, entry] of config.backends.entries()) {
      const entryKey = `${key}/backend/${index}`
      const inline = entry.host ?? (entry.dynamicForwardProxy && dynamic(entry.dynamicForwardProxy))
      if (inline !== undefined) ir.backends.push({ key: entryKey, name: targetName(inline), target: inline })
      const backend = entry.backend === undefined ? entryKey : `backend/${entry.backend}`
      route.backends.push({ key: entryKey, backend, weight: entry.weight })
      attachBackend(entryKey, entry.policies, [...path, 'backends', index, 'policies'])
    }
  }

  function addRoutePolicies(key: string, policies: NonNullable<RouteConfig['policies']>, path: Path): void {
    const { backend, ...traffic } = policies
    const mirror = traffic.requestMirror
    if (mirror !== undefined) traffic.requestMirror = { ...mirror, backend: mirrorBackend(key, mirror.backend) }
    const resolved = backend === undefined ? null : withContents(backend, [...path, 'backend'])
    attach(ir, { target: { kind: 'route', key }, traffic, backend: resolved })
  }

  /** A mirror names a backend by key, so that a bare `host:port` becomes one. */
  function mirrorBackend(route: string, reference: string): string {
    const target = parseHostTarget(reference)
    if (target === null) return `backend/${reference}`
    const key = `${route}/mirror`
    ir.backends.push({ key, name: targetName(target), target })
    return key
  }

  function attachBackend(key: string, policies: BackendPolicies | undefined, path: Path): void {
    if (policies !== undefined) attach(ir, { target: { kind: 'backend', key }, backend: withContents(policies, path) })
  }

  function withContents(policies: BackendPolicies, path: Path): BackendPolicies {
    const tls = policies.tls
    if (tls === undefined) return policies
    const at = [...path, 'tls']
    const pair = [...at, 'mtlsCertificateRef']
    const mtls = tls.mtlsCertificateRef
    return {
      ...policies,
      tls: {
        ...tls,
        ...(mtls && {
          mtlsCertificateRef: {
            cert: pem([...pair, 'cert']),
            key: pem([...pair, 'key']),
            ...(mtls.ca === undefined ? {} : { ca: pem([...pair, 'ca']) }),
          },
        }),
        ...(tls.caCertificateRefs && {
          caCertificateRefs: tls.caCertificateRefs.map((_, index) => pem([...at, 'caCertificateRefs', index])),
        }),
      },
    }
  }
}

function attach(ir: Ir, policy: Pick<AttachedPolicy, 'target'> & Partial<AttachedPolicy>): void {
  const key = policy.target.kind === 'gateway' ? 'gateway' : `${policy.target.kind}/${policy.target.key}`
  ir.policies.push({ key: `inline/${key}`, frontend: null, traffic: null, backend: null, ...policy })
}

function namedTarget(backend: NamedBackendConfig): BackendTarget {
  if (backend.dynamicForwardProxy !== undefined) return dynamic(backend.dynamicForwardProxy)
  const { host, port, unixPath } = backend.static!
  return unixPath === undefined ? { kind: 'static', host: host!, port: port! } : { kind: 'unix', path: unixPath }
}

function dynamic(config: { allowCidrs: string[]; ports: number[] }): BackendTarget {
  return { kind: 'dynamicForwardProxy', ...config }
}

/** What logs and metrics call a backend that has no name of its own. */
function targetName(target: Backend['target']): string {
  if (target.kind === 'unix') return `unix:${target.path}`
  if (target.kind === 'dynamicForwardProxy') return 'dynamicForwardProxy'
  return target.host.includes(':') ? `[${target.host}]:${target.port}` : `${target.host}:${target.port}`
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
    ? { name, kind: 'exact', value: value.exact! }
    : { name, kind: 'regex', value: value.regex }
}

function everything(): RouteMatch {
  return { path: { kind: 'pathPrefix', value: '/' }, method: null, headers: [], query: [] }
}
