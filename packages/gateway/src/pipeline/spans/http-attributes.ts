import { HTTP_METHODS } from '../../telemetry/metrics/families.ts'
import { attributeName } from '../../telemetry/otlp/attributes.ts'
import { splitPort } from './split-port.ts'
import type { SpannedRequest } from './spanned-request.ts'

/** A span attribute that corresponds to fields of the access log. */
interface HttpAttribute<Of> {
  readonly name: string
  /** The corresponding fields; a config that removes or replaces one of them removes the attribute too. */
  readonly fields: readonly string[]
  readonly key: Buffer
  readonly read: (of: Of) => string | number | null
}

/** The properties of an upstream call that its span reports. */
interface HttpCall {
  readonly method: string
  readonly authority: string
  readonly target: string
  readonly status: number
  /** `address:port` of the last connection; null before there was one. */
  readonly endpoint: string | null
  readonly scheme: 'http' | 'https' | null
}

/**
 * The stable HTTP conventions of OpenTelemetry (1.23 and later) for the span of a request. `url.query` is left out: it may
 * hold a key.
 */
export const requestAttributes: readonly HttpAttribute<SpannedRequest>[] = [
  attribute('http.request.method', 'http.method', ({ method }) => (method === null ? null : knownMethod(method))),
  attribute('http.request.method_original', 'http.method', ({ method }) =>
    method === null || knownMethod(method) === method ? null : method,
  ),
  attribute('http.response.status_code', 'http.status', ({ status }) => (status === 0 ? null : status)),
  attribute('http.route', 'http.path', ({ match }) => routeOf(match)),
  attribute('url.path', 'http.path', ({ target }) => (target === null ? null : withoutQuery(target))),
  attribute('server.address', 'http.host', ({ host }) => (host === null ? null : splitPort(host).address)),
  attribute('server.port', 'http.host', ({ host, scheme }) =>
    host === null ? null : (splitPort(host).port ?? (scheme === 'https' ? 443 : 80)),
  ),
  attribute('client.address', 'src.addr', ({ srcAddr }) => (srcAddr === null ? null : splitPort(srcAddr).address)),
  attribute('client.port', 'src.addr', ({ srcAddr }) => (srcAddr === null ? null : splitPort(srcAddr).port)),
]

/** The attributes of the span of an upstream call. */
export const callAttributes: readonly HttpAttribute<HttpCall>[] = [
  attribute('http.request.method', 'http.method', ({ method }) => knownMethod(method)),
  attribute('http.response.status_code', 'http.status', ({ status }) => (status === 0 ? null : status)),
  attribute('url.path', 'http.path', ({ target }) => (target.startsWith('/') ? withoutQuery(target) : null)),
  attribute('url.scheme', 'url.scheme', ({ scheme }) => scheme),
  attribute('url.full', ['http.path', 'http.host'], ({ scheme, authority, target }) =>
    scheme === null || !target.startsWith('/')
      ? null
      : `${scheme}://${withoutCredentials(authority)}${withoutQuery(target)}`,
  ),
  attribute('server.address', 'http.host', ({ authority }) => splitPort(authority).address),
  attribute('server.port', 'http.host', ({ authority, endpoint }) => {
    const { port } = splitPort(authority)
    return port ?? (endpoint === null ? null : splitPort(endpoint).port)
  }),
  attribute('network.peer.address', 'endpoint', ({ endpoint }) =>
    endpoint === null ? null : splitPort(endpoint).address,
  ),
  attribute('network.peer.port', 'endpoint', ({ endpoint }) => (endpoint === null ? null : splitPort(endpoint).port)),
]

export function isRemoved({ name, fields }: HttpAttribute<never>, removed: ReadonlySet<string>): boolean {
  return removed.size > 0 && (removed.has(name) || fields.some((field) => removed.has(field)))
}

/** Returns the method, or `_OTHER` for an unknown method, so that the attribute has few values. */
function knownMethod(method: string): string {
  return METHODS.has(method) ? method : '_OTHER'
}

export function withoutQuery(target: string): string {
  const end = target.search(/[?#]/)
  return end === -1 ? target : target.slice(0, end)
}

function withoutCredentials(authority: string): string {
  return authority.slice(authority.lastIndexOf('@') + 1)
}

/** Returns the path pattern of the matched route. */
function routeOf(match: SpannedRequest['match']): string | null {
  if (match === null) return null
  const { kind, value } = match.match.path
  return kind === 'pathPrefix' ? `${value.replace(/\/+$/, '')}/*` : value
}

function attribute<Of>(
  name: string,
  field: string | readonly string[],
  read: (of: Of) => string | number | null,
): HttpAttribute<Of> {
  return { name, fields: typeof field === 'string' ? [field] : field, key: attributeName(name), read }
}

export const METHODS: ReadonlySet<string> = new Set(HTTP_METHODS)
