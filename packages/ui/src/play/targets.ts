import type {
  BackendsView,
  RoutesView,
  ViewedBackend,
  ViewedBind,
  ViewedListener,
  ViewedMatch,
  ViewedRoute,
  ViewedRouteBackend,
} from '@portico/gateway/admin-config'
import type { SendCall } from '@portico/gateway/admin-send'

/** A route that leads to models or tools, and how a client gets there. */
export interface PlayTarget {
  readonly bind: ViewedBind
  readonly listener: ViewedListener
  readonly route: ViewedRoute
  readonly backend: ViewedBackend
  /** As the route has it, with the policies that hold there. */
  readonly entry: ViewedRouteBackend
  /** The base path of calls: `/v1` for models, `/mcp` for tools. */
  readonly path: string
  /** Null to use the hostname of the listener. */
  readonly host: string | null
  /** Headers that the route matches on. */
  readonly headers: readonly (readonly [string, string])[]
}

export function playTargets(view: RoutesView, { backends }: BackendsView, kind: 'ai' | 'mcp'): PlayTarget[] {
  const byKey = new Map(backends.filter((backend) => backend.kind === kind).map((backend) => [backend.key, backend]))
  return view.binds.flatMap((bind) =>
    bind.listeners
      .filter(({ protocol }) => protocol === 'HTTP' || protocol === 'HTTPS')
      .flatMap((listener) =>
        listener.routes.flatMap((route) => {
          const entry = route.backends.find(({ backend }) => byKey.has(backend))
          const backend = byKey.get(entry?.backend ?? '')
          if (entry === undefined || backend === undefined) return []
          const match = kind === 'mcp' ? mcpMatch(route.matches) : route.matches[0]
          return {
            bind,
            listener,
            route,
            backend,
            entry,
            path: kind === 'mcp' ? mcpPath(match) : modelPath(match),
            host: hostOf(route.hostnames[0] ?? listener.hostname),
            headers: (match?.headers ?? []).flatMap(({ name, kind: how, value }) =>
              how === 'exact' ? [[name, value] as const] : [],
            ),
          }
        }),
      ),
  )
}

/** The fields that all calls to a target share. */
export function callTo({ bind, listener, host, headers }: PlayTarget): Omit<SendCall, 'method' | 'path'> {
  return { bind: bind.key, listener: listener.key, headers, ...(host !== null && { host }) }
}

/** The address for clients. A bind on all addresses has the host name of this page. */
export function addressOf({ bind, listener, host }: PlayTarget, seenAs: string): string {
  const isTls = listener.protocol === 'HTTPS'
  const isEvery = ['', '0.0.0.0', '::'].includes(bind.address)
  const name = host ?? (isEvery ? seenAs : literal(bind.address))
  const port = bind.port === (isTls ? 443 : 80) ? '' : `:${bind.port}`
  return `${isTls ? 'https' : 'http'}://${name}${port}`
}

/** The gateway recognizes calls by the end of their path, so a base of any depth works. */
function modelPath(match: ViewedMatch | undefined): string {
  if (match === undefined || match.path.kind === 'regex') return '/v1'
  const { kind, value } = match.path
  if (kind === 'exact' && MODEL_CALL.test(value)) return value.replace(MODEL_CALL, '')
  const base = value.replace(/\/+$/, '')
  return base.endsWith('/v1') ? base : `${base}/v1`
}

const MODEL_CALL = /\/(?:chat\/completions|responses|messages|embeddings|models)$/

/** The match for Streamable HTTP, when the older SSE transport has a match of its own. */
function mcpMatch(matches: readonly ViewedMatch[]): ViewedMatch | undefined {
  return matches.find(({ path }) => !path.value.endsWith('/sse')) ?? matches[0]
}

function mcpPath(match: ViewedMatch | undefined): string {
  if (match === undefined || match.path.kind === 'regex') return '/mcp'
  const base = match.path.value.replace(/\/+$/, '')
  return base === '' ? '/mcp' : base
}

function hostOf(hostname: string): string | null {
  return hostname === '' ? null : hostname.replace(/^\*/, 'any')
}

function literal(address: string): string {
  return address.includes(':') ? `[${address}]` : address
}
