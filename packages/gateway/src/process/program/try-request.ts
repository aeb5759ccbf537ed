import type { AiModel } from '../../backends/ai/models/schema.ts'
import { ConfigView } from '../../explain/config-view.ts'
import { matchRoute } from '../../explain/match-route.ts'
import type { Backend, Ir, Listener, Route, RouteMatch } from '../../ir/resources.ts'

/** A request that a config answers, as a line for a shell. */
export interface TryRequest {
  readonly curl: string
  /** The name of the route that matches. */
  readonly route: string
  /** Placeholders that the user has to replace, such as `<token>`. */
  readonly placeholders: readonly string[]
}

/** Routes that are looked at: a start does not wait for a search through thousands. */
const MOST_ROUTES = 50
/** Each try builds the table of a listener. */
const MOST_TRIES = 5
/** Policies whose decision needs a real request, or is no success. */
const UNSURE = ['authorization', 'extAuth', 'extProc', 'mcpAuthentication', 'requestRedirect']
const CREDENTIALS = ['jwtAuthentication', 'basicAuthentication', 'apiKeyAuthentication']

/**
 * The first request that the gateway itself does not deny, preferably without placeholders; null when the config does not
 * determine one.
 */
export function tryRequest(ir: Ir, ports: Readonly<Record<string, number>>): TryRequest | null {
  const view = new ConfigView({ isKnown: true, ir, locate: () => null })
  const anywhere = { listener: null, route: null, backend: null }
  const network = view.held('frontend', 'networkAuthorization', anywhere, null)
  if (network !== null || view.held('frontend', 'proxyProtocol', anywhere, null) !== null) return null
  const found = ir.routes
    .slice(0, MOST_ROUTES)
    .flatMap((route) => draftsOf(route, { ir, ports, view }))
    .toSorted((one, other) => one.placeholders.length - other.placeholders.length)
    .slice(0, MOST_TRIES)
    .find((draft) => isTaken(draft, ir, ports))
  if (found === undefined) return null
  const { headers, body, url, route, placeholders } = found
  const words = [
    ...headers.flatMap(([name, value]) => ['-H', quoted(`${name}: ${value}`)]),
    ...(body === null ? [] : ['-d', quoted(body)]),
  ]
  return { curl: ['curl -i', quoted(url), ...words].join(' '), route: titleOf(route), placeholders }
}

interface Draft {
  readonly route: Route
  readonly url: string
  /** Host and path of the request line, as the router sees them. */
  readonly target: string
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | null
  readonly placeholders: readonly string[]
}

interface Scene {
  readonly ir: Ir
  readonly ports: Readonly<Record<string, number>>
  readonly view: ConfigView
}

function draftsOf(route: Route, scene: Scene): Draft[] {
  const listener = scene.view.listener(route.listener)
  const port = listener?.protocol === 'HTTP' ? scene.ports[listener.bind] : undefined
  if (listener === null || port === undefined) return []
  const asked = credentialsFor(route, scene.view)
  const call = asked === null ? null : callOf(route, scene)
  if (asked === null || call === null) return []
  return route.matches.flatMap((match): Draft[] => {
    const path = pathFor(match, call)
    const isPlain = [...match.headers, ...match.query].every(({ name, kind }) => kind === 'exact' && !isSecret(name))
    const method = call.body === null ? 'GET' : 'POST'
    if (path === null || !isPlain || (match.method !== null && match.method !== method)) return []
    const query = new URLSearchParams([
      ...match.query.map(({ name, value }) => [name, value]),
      ...asked.query,
    ]).toString()
    const target = query === '' ? path : `${path}?${query}`
    const host = hostOf(route, listener)
    const own = match.headers.map(({ name, value }) => [name, value] as const)
    return [
      {
        ...{ route, body: call.body, url: `http://127.0.0.1:${port}${target}` },
        target: `http://${host ?? '127.0.0.1'}:${port}${target}`,
        headers: [...(host === null ? [] : [['Host', host] as const]), ...own, ...asked.headers, ...call.headers],
        placeholders: [...asked.placeholders, ...call.placeholders],
      },
    ]
  })
}

/** Asks the real router, because another route may match more exactly. */
function isTaken({ route, target, headers, body }: Draft, ir: Ir, ports: Scene['ports']): boolean {
  const method = body === null ? 'GET' : 'POST'
  const { pathname } = new URL(target)
  // The router builds a table of its routes: those that other paths belong to would only take time.
  const routes = ir.routes.filter(({ matches }) => matches.some(({ path }) => mayTake(path, pathname)))
  const rest = { ...ir, routes }
  const found = matchRoute(
    { url: target, method, headers: Object.fromEntries(headers) },
    { ir: rest, ports, generation: 0 },
  )
  return typeof found !== 'string' && found.ports[0]?.route?.key === route.key
}

/** Whether a route with this match may take a request for the path. */
function mayTake({ kind, value }: RouteMatch['path'], path: string): boolean {
  return kind === 'regex' || path.toLowerCase().startsWith(value.replace(/\/$/, '').toLowerCase())
}

interface Credentials {
  readonly headers: (readonly [string, string])[]
  readonly query: [string, string][]
  readonly placeholders: string[]
}

/** The credentials that a route needs; null when the config does not tell whether a request would pass. */
function credentialsFor(route: Route, view: ConfigView): Credentials | null {
  const keys = { listener: route.listener, route: route.key, backend: null }
  const all: Credentials = { headers: [], query: [], placeholders: [] }
  for (const phase of ['gateway', 'route']) {
    if (UNSURE.some((name) => view.held('traffic', name, keys, phase) !== null)) return null
    for (const name of CREDENTIALS) {
      const config: { mode?: unknown; location?: unknown; conditional?: unknown } | undefined = view.held(
        ...(['traffic', name, keys, phase] as const),
      )?.config
      if (config === undefined) continue
      if (config.conditional !== undefined) return null
      if (config.mode !== 'Strict') continue
      addCredential(all, name, config.location)
    }
  }
  return all
}

function addCredential({ headers, query, placeholders }: Credentials, policy: string, location: unknown): void {
  const text = policy === 'jwtAuthentication' ? '<token>' : policy === 'basicAuthentication' ? '<base64>' : '<key>'
  const { header, queryParameter, cookie } = (location ?? {}) as {
    header?: { name: string; prefix?: string }
    queryParameter?: { name: string }
    cookie?: { name: string }
  }
  const prefix = policy === 'basicAuthentication' ? 'Basic ' : 'Bearer '
  if (queryParameter !== undefined) query.push([queryParameter.name, text])
  else if (cookie !== undefined) headers.push(['Cookie', `${cookie.name}=${text}`])
  else if (header === undefined) headers.push(['Authorization', `${prefix}${text}`])
  else headers.push([header.name, `${header.prefix ?? ''}${text}`])
  placeholders.push(text)
}

interface Call {
  /** The path below the prefix of the route; null for the prefix itself. */
  readonly endpoint: string | null
  readonly headers: readonly (readonly [string, string])[]
  readonly body: string | null
  readonly placeholders: readonly string[]
}

/** A request that the backend of a route understands; null when none is known. */
function callOf(route: Route, { ir, view }: Scene): Call | null {
  const keys = { listener: route.listener, route: route.key, backend: null }
  const plain: Call = { endpoint: null, headers: [], body: null, placeholders: [] }
  const own = view.held('traffic', 'directResponse', keys, 'route')?.config
  if (own !== undefined) return 'status' in own && Number(own.status) < 400 ? plain : null
  const first = route.backends.find(({ weight }) => weight > 0)
  const backend = ir.backends.find(({ key }) => key === first?.backend)
  if (first === undefined || backend === undefined) return null
  const at = { ...keys, backend: first.backend }
  if (view.held('backend', 'extAuth', at, null) !== null) return null
  switch (backend.target.kind) {
    case 'static':
    case 'unix':
    case 'service':
    case 'inferencePool':
      return plain
    case 'ai':
      return chatOf(backend, view.held('backend', 'auth', at, null) !== null)
    case 'mcp':
      return view.held('backend', 'mcp', at, null) === null ? INITIALIZE : null
    case 'agentCore':
    case 'dynamicForwardProxy':
    case 'invalid':
      return null
  }
}

const JSON_BODY = ['content-type', 'application/json'] as const

function chatOf({ target }: Backend, hasKey: boolean): Call | null {
  const provider = target.kind === 'ai' ? target.groups[0]?.[0]?.config : undefined
  if (provider === undefined) return null
  const isMock = 'mock' in provider && provider.mock !== undefined
  const vendor = Object.values(provider).find((part) => typeof part === 'object' && part !== null)
  const named =
    typeof vendor === 'object' && 'model' in vendor && typeof vendor.model === 'string' ? vendor.model : null
  const listed = target.kind === 'ai' ? target.models?.find(isListed)?.name : undefined
  const model = listed ?? named ?? (isMock ? 'mock' : '<model>')
  const needsKey = !isMock && !hasKey
  return {
    endpoint: '/v1/chat/completions',
    headers: [JSON_BODY, ...(needsKey ? [['Authorization', 'Bearer <key>'] as const] : [])],
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }] }),
    placeholders: [...(model === '<model>' ? [model] : []), ...(needsKey ? ['<key>'] : [])],
  }
}

/** Whether clients find the model in the list of models. */
function isListed({ name, visibility }: AiModel): boolean {
  return visibility === 'Public' && !name.includes('*')
}

const INITIALIZE: Call = {
  endpoint: null,
  headers: [JSON_BODY, ['accept', 'application/json, text/event-stream']],
  body: JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'curl', version: '1' } },
  }),
  placeholders: [],
}

/** The path of a request that matches; null for a regex. */
function pathFor({ path: { kind, value } }: RouteMatch, { endpoint }: Call): string | null {
  if (kind === 'regex') return null
  if (endpoint === null) return value
  const [, last = ''] = endpoint.split('/v1')
  if (value.endsWith(last)) return value
  if (kind === 'exact') return null
  const base = value.replace(/\/$/, '')
  return base.endsWith('/v1') ? `${base}${last}` : `${base}${endpoint}`
}

/** The host of a request that matches; null when any host matches. */
function hostOf({ hostnames }: Route, { hostname }: Listener): string | null {
  const [first = hostname] = hostnames
  // A listener for one host is narrower than a route for all below a domain.
  const host = first.startsWith('*') && hostname !== '' && !hostname.startsWith('*') ? hostname : first
  return host === '' || host === '*' ? null : host.replace(/^\*/, 'any')
}

function isSecret(name: string): boolean {
  return /auth|cookie|key|token|secret|password/i.test(name)
}

function titleOf({ name, rule }: Route): string {
  return rule === '' ? name : `${name}/${rule}`
}

/** Quotes a text for a shell. */
function quoted(text: string): string {
  return /^[\w./:=%@+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
