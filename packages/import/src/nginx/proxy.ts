import { withoutAbsent } from '../core/config-yaml.ts'
import { hostPortOf } from '../http/addresses.ts'
import { isSettable } from '../http/header-names.ts'
import { backendTimeouts } from '../http/timeouts.ts'
import type { Directive, Scope } from './directive.ts'
import type { Location } from './locations.ts'
import type { NewPath } from './rewrite.ts'
import { expressionOf, literalOf, secondsOf } from './text.ts'
import { type Upstreams, type UpstreamServer } from './upstreams.ts'

/** The backends of a `proxy_pass`, and its policies. */
interface Proxy {
  readonly backends: readonly UpstreamServer[]
  readonly policies: Readonly<Record<string, unknown>>
  /** The path that the backend gets for a path of clients. */
  pathFor(this: void, path: string): string
}

/** Reads the `proxy_pass` of a location; a text says why it is not possible. */
export function readProxy(
  pass: Directive,
  scope: Scope,
  place: { location: Location | null; upstreams: Upstreams; path: NewPath | null },
): Proxy | string {
  const target = withSetVariables(pass.args[0] ?? '', scope)
  const found = /^(https?):\/\/([^/?#$\s]+)(\/[^?#$\s]*)?$/.exec(target)
  if (found === null) return 'the address contains variables or a query, or is not a URL'
  const [, scheme, authority = '', uri] = found
  const upstream = place.upstreams.get(authority)
  const direct = hostPortOf(authority, scheme === 'https' ? 443 : 80)
  const backends = upstream?.servers ?? (direct === null ? [] : [{ host: direct }])
  if (backends.length === 0) return 'the server is neither a host with a port nor an upstream with servers'
  const { location, path } = place
  const isRegex = location !== null && location.kind.startsWith('~')
  if (uri !== undefined && isRegex)
    return 'proxy_pass has a path, which a location with a regular expression cannot have'
  const cut = location?.path ?? '/'
  const set: object[] = []
  const base = path === null ? 'request.pathAndQuery' : `(${path.expression})`
  const replaced = path?.replacesUri === true ? undefined : uri
  if (replaced !== undefined && replaced !== cut) {
    set.push({ name: ':path', value: `${JSON.stringify(replaced)} + ${base}.substring(${cut.length})` })
  } else if (path !== null) set.push({ name: ':path', value: path.expression })
  pass.carried()
  if (scheme === 'https') pass.changed('the gateway verifies the certificate of the server')
  const host = hostPolicy(pass, scope, authority)
  if (typeof host === 'string') return host
  set.push(...requestHeaders(scope))
  const backend = withoutAbsent({
    tls: scheme === 'https' ? {} : undefined,
    ...backendTimeouts(
      takeSeconds(scope.one('proxy_connect_timeout'), ''),
      takeSeconds(scope.one('proxy_read_timeout'), 'the time limit applies until the response begins'),
    ),
  })
  return {
    backends,
    policies: withoutAbsent({
      ...host,
      transformation: set.length === 0 ? undefined : { request: { set } },
      backend: Object.keys(backend).length === 0 ? undefined : backend,
    }),
    pathFor(client) {
      const own = path === null ? client : path.pathFor(client)
      return replaced === undefined ? own : replaced + own.slice(cut.length)
    },
  }
}

/**
 * Returns the address with the texts of `set` in place of their variables. An address with a path stays as it is, because
 * nginx then sends that path in place of the whole path of the request.
 */
function withSetVariables(address: string, scope: Scope): string {
  if (!address.includes('$')) return address
  const used: Directive[] = []
  const found = address.replaceAll(/\$(?:\{(\w+)\}|(\w+))/g, (all, braced?: string, plain?: string) => {
    const variable = `$${braced ?? plain}`
    const isSet = ({ name, args }: Directive): boolean => name === 'set' && args[0] === variable
    const [first, ...others] = scope.nearest(
      (each) => isSet(each) || (each.name === 'if' && each.block?.some(isSet) === true),
    )
    const value = first?.name === 'set' && others.length === 0 ? (first.args[1] ?? '') : ''
    if (first === undefined || value === '' || literalOf(value) === null) return all
    used.push(first)
    return value
  })
  if (/^https?:\/\/[^/]*\//.test(found)) return address
  for (const each of used) each.carried()
  return found
}

/** Returns the seconds of a directive and marks the directive; returns null when the directive has no time. */
function takeSeconds(directive: Directive | null, note: string): number | null {
  const seconds = directive === null ? null : secondsOf(directive.args.join(' '))
  if (directive === null || seconds === null || seconds < 0.001) return null
  if (note === '') directive.carried()
  else directive.changed(note)
  return seconds
}

/** The `Host` of requests to the backend: nginx sends the address of `proxy_pass` unless the config says otherwise. */
function hostPolicy(pass: Directive, scope: Scope, authority: string): object | string {
  const header = scope.all('proxy_set_header').findLast(({ args }) => args[0]?.toLowerCase() === 'host')
  const value = header?.args[1] ?? '$proxy_host'
  if (value === '$proxy_host') {
    header?.carried()
    if (hostPortOf(authority, 80) === null) {
      pass.changed('the Host is the name of the server, because the name of the upstream is not a valid hostname')
      return { hostRewrite: { mode: 'Auto' } }
    }
    return { urlRewrite: { authority: { full: authority } } }
  }
  if (value === '$host' || value === '$http_host') {
    header?.carried()
    return { hostRewrite: { mode: 'None' } }
  }
  if (value === '$host:$server_port') {
    header?.changed('the gateway sends the Host of the client')
    return { hostRewrite: { mode: 'None' } }
  }
  if (literalOf(value) === null || hostPortOf(value, 80) === null) {
    return 'the importer does not know a variable of the Host'
  }
  header?.carried()
  return { urlRewrite: { authority: { full: value } } }
}

/** Headers that the gateway sends by itself. */
const OWN_HEADERS = new Map([
  ['x-forwarded-for', /^\$(proxy_add_x_forwarded_for|remote_addr)$/],
  ['x-forwarded-proto', /^\$scheme$/],
  ['x-forwarded-host', /^\$(http_)?host$/],
  ['connection', /./],
  ['upgrade', /^\$http_upgrade$/],
])

function requestHeaders(scope: Scope): object[] {
  const set: object[] = []
  for (const directive of scope.all('proxy_set_header')) {
    const [name = '', value = ''] = directive.args
    const lower = name.toLowerCase()
    if (lower === 'host') continue
    if (OWN_HEADERS.get(lower)?.test(value) === true) {
      if (lower.startsWith('x-'))
        directive.changed(
          "the gateway sets this header; frontend.forwardedHeaders decides whether the client's value is trusted",
        )
      else directive.carried('the gateway forwards WebSockets and keeps connections open')
      continue
    }
    const expression = isSettable(name) && !OWN_HEADERS.has(lower) ? expressionOf(value) : null
    if (expression === null || set.length >= 15) {
      directive.notCarried('a variable of the value has no counterpart, or the gateway sets this header itself')
      continue
    }
    directive.carried()
    set.push({ name: lower, value: value === '' ? '[]' : expression })
  }
  return set
}
