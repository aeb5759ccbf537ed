import { denial, effect, guard, policy } from '../chain/effects.ts'
import { policiesOf, withHeaders } from '../chain/state.ts'
import { type PathState, withoutPrefix } from '../chain/path-state.ts'
import { closed, final, notImported, statusReply } from '../chain/replies.ts'
import type { Directive, Handler } from '../chain/routes.ts'
import { Variable, withoutAbsent } from '../core/config-yaml.ts'
import type { Field } from '../core/yaml-field.ts'
import { cidrOf, hostPortOf } from '../http/addresses.ts'
import { isSettable } from '../http/header-names.ts'
import { isPlainPath } from '../http/paths.ts'
import { directiveOf, textsOf } from '../chain/field-directive.ts'

/** The middlewares of all files, by name. */
export type Middlewares = ReadonlyMap<string, Field>

export interface PortFacts {
  readonly isTls: boolean
  /** Returns an environment variable in place of the secret in a field. */
  secret(this: void, field: Field, name: string): string
}

/** Returns the handlers for a list of middlewares, in the order of the list. */
export function readMiddlewares(
  names: readonly string[],
  known: Middlewares,
  owner: Directive,
  facts: PortFacts,
  chains: readonly string[] = [],
): Handler[] {
  return names.flatMap((text) => {
    const name = text.split('@')[0] ?? ''
    const field = known.get(name)
    const [entry] = field?.members ?? []
    if (chains.includes(name)) {
      owner.notCarried(
        `the chain ${name.slice(0, 60)} contains itself; requests get 403 until you configure a replacement`,
        true,
      )
      return [closed(owner)]
    }
    if (field === undefined || entry === undefined) {
      owner.notCarried(
        `no file has the middleware ${text.slice(0, 60)}; requests get 403 until you configure a replacement`,
        true,
      )
      return [closed(owner)]
    }
    const [kind, options] = entry
    if (kind === 'chain') {
      const list = options.get('middlewares')
      list?.carried()
      return readMiddlewares(textsOf(list), known, owner, facts, [...chains, name])
    }
    return readMiddleware(kind, options, facts)
  })
}

function rateLimit(limit: object): Handler {
  return effect((state) => {
    const known = state.policies['rateLimit'] as { local: object[] } | undefined
    return {
      ...state,
      policies: { ...state.policies, rateLimit: { local: [...(known?.local ?? []), limit].slice(0, 16) } },
    }
  })
}

function path(apply: (path: PathState) => PathState | null): Handler {
  return effect((state) => ({ ...state, path: state.path === null ? null : apply(state.path) }))
}

function readMiddleware(kind: string, options: Field, facts: PortFacts): Handler[] {
  const directive = directiveOf(options, kind)
  const close = (why: string): Handler[] => {
    options.notCarried(`${why}; requests get 403 until you configure a replacement`, true)
    return [closed(directive)]
  }
  switch (kind) {
    case 'addPrefix': {
      const prefix = (options.get('prefix')?.text ?? '').replace(/\/$/, '')
      if (!isPlainPath(prefix)) break
      options.carried()
      return [path((state) => ({ ...state, prefix: prefix + state.prefix }))]
    }
    case 'stripPrefix': {
      const prefixes = textsOf(options.get('prefixes'))
        .map((text) => text.replace(/\/$/, ''))
        .filter((text) => text !== '')
      if (!prefixes.every(isPlainPath)) break
      options.changed('the gateway does not send x-forwarded-prefix')
      return [{ kind: 'routes', routes: stripRoutes(directive, prefixes) }]
    }
    case 'replacePath': {
      const full = options.get('path')?.text ?? ''
      if (!isPlainPath(full)) break
      options.changed('the gateway does not send x-replaced-path')
      return [path((state) => ({ ...state, prefix: full, cut: null, isBroken: false }))]
    }
    case 'redirectScheme':
      return redirectScheme(directive, options, facts)
    case 'redirectRegex':
      return redirectRegex(directive, options, facts)
    case 'headers':
      return readHeaders(options, facts)
    case 'basicAuth': {
      const [users, file, realm] = [
        textsOf(options.get('users')),
        options.get('usersFile')?.text,
        options.get('realm')?.text,
      ]
      const isKnown = users.every((user) => /^[^\s:]+:(\$(apr1|1|5|6|2[aby])\$|\{SHA\})\S+$/.test(user))
      if (!isKnown || (users.length === 0 && file === undefined) || (users.length > 0 && file !== undefined))
        return close('the gateway does not accept a password hash of the users')
      options.carried(file === undefined ? '' : 'copy the file to this path, or change the path')
      const name =
        realm !== undefined && realm !== null && /^[\x20-\x7e]{1,100}$/.test(realm) && !/["\\]/.test(realm)
          ? realm
          : undefined
      return [
        guard(
          'basicAuthentication',
          withoutAbsent({ realm: name, ...(file === undefined ? { users } : { secretRef: { file } }) }),
          (why) => options.notCarried(why, true),
        ),
      ]
    }
    case 'forwardAuth':
      return forwardAuth(options, close)
    case 'ipAllowList':
    case 'ipWhiteList': {
      const ranges = textsOf(options.get('sourceRange')).map(cidrOf)
      if (ranges.length === 0 || ranges.includes(null)) return close('a range is not a valid address or network')
      if (options.get('ipStrategy') !== null)
        return close("ipStrategy reads the client's address from a header; configure frontend.forwardedHeaders")
      options.carried()
      const any = ranges.map((range) => `cidr(${JSON.stringify(range)}).containsIP(source.address)`).join(' || ')
      return [denial(`!(${any})`)]
    }
    case 'rateLimit': {
      const limit = limitOf(options)
      if (limit === null) break
      options.changed('each time window refills the whole budget at once')
      return [rateLimit(limit)]
    }
    case 'retry': {
      const attempts = Math.min((options.get('attempts')?.number ?? 1) - 1, 5)
      options.changed('only requests with idempotent methods are retried after a lost connection')
      return attempts >= 1 ? [policy('retry', { attempts })] : []
    }
    case 'stripPrefixRegex':
    case 'replacePathRegex':
      options.notCarried('configure a transformation of :path; matching requests get 501')
      return [effect((state) => ({ ...state, path: null }))]
    case 'digestAuth':
    case 'plugin':
      return close('the middleware may restrict access, and has no counterpart')
    default:
  }
  const note = NOTES[kind]
  options.notCarried(
    note ?? 'the middleware cannot be imported; matching requests get 501',
    kind === 'inFlightReq' || kind === 'rateLimit',
  )
  return note === undefined ? [notImported(directive)] : []
}

const NOTES: Readonly<Record<string, string>> = {
  rateLimit: 'configure a rateLimit policy: docs/policies/traffic-rate-limit.md',
  compress: 'the gateway does not compress responses',
  buffering: 'the gateway streams bodies; frontend.http.maxBufferSize limits the bodies that policies read',
  circuitBreaker: 'configure a health policy, which evicts failing backends: docs/backends.md',
  inFlightReq: 'configure frontend.tcp.maxConnections to limit connections',
  errors: 'the gateway does not replace error responses of backends',
  contentType: 'responses have the content type that the backend sets',
  grpcWeb: 'the gateway does not translate gRPC-Web',
  passTLSClientCert: 'configure a transformation with source.certificate',
}

function stripRoutes(directive: Directive, prefixes: readonly string[]) {
  const group = {}
  return prefixes.flatMap((prefix) => {
    const base = { statement: directive, group }
    const fits = (kind: 'exact' | 'start', text: string) => ({ kind: 'path' as const, path: { kind, path: text } })
    return [
      {
        ...base,
        condition: fits('exact', prefix),
        handlers: [path((state) => ({ ...state, prefix: '/', cut: null }))],
      },
      { ...base, condition: fits('start', `${prefix}/`), handlers: [path((state) => withoutPrefix(state, prefix))] },
      // When a stripped prefix such as `/api` leaves a path without a slash, as for `/apix`, Traefik adds the slash.
      {
        ...base,
        condition: fits('start', prefix),
        handlers: [
          path((state) => {
            const rest = withoutPrefix(state, prefix)
            return rest === null ? null : { ...rest, prefix: `/${rest.prefix}` }
          }),
        ],
      },
    ]
  })
}

function redirectScheme(directive: Directive, options: Field, { isTls }: PortFacts): Handler[] {
  const scheme = options.get('scheme')?.text ?? ''
  const port = Number(options.get('port')?.text ?? 0)
  if (scheme !== 'https' && scheme !== 'http') {
    options.notCarried('the scheme is neither http nor https; matching requests get 501')
    return [notImported(directive)]
  }
  const status = options.get('permanent')?.isTrue === true ? 301 : 302
  if ((scheme === 'https') === isTls) {
    options.carried()
    return []
  }
  options.changed('the redirect has the same status for all methods')
  const authority = port > 0 && port < 65_536 ? { authority: { port } } : {}
  return [redirect(directive, { scheme, ...authority, status })]
}

function redirect(
  directive: Directive,
  requestRedirect: { readonly status: number } & Record<string, unknown>,
): Handler {
  return final((state) => {
    const { status } = requestRedirect
    return { ...statusReply(directive, status, state), policies: { ...policiesOf(state, false), requestRedirect } }
  })
}

/** Reads a `redirectRegex` that changes the scheme or the host and keeps the path. */
function redirectRegex(directive: Directive, options: Field, { isTls }: PortFacts): Handler[] {
  const [regex, target] = [options.get('regex')?.text ?? '', options.get('replacement')?.text ?? '']
  const status = options.get('permanent')?.isTrue === true ? 301 : 302
  const [, scheme, host] = /^\^?(https?|https\?):\/\/([a-z0-9.-]|\\\.)+\/(?:\(\.\*\))\$?$/i.exec(regex) ?? []
  const [, toScheme, toHost] = /^(https?):\/\/([a-zA-Z0-9.-]+)\/(?:\$1|\$\{1\})$/.exec(target) ?? []
  const from = /^\^?https?\??:\/\/(.+)\/\(\.\*\)\$?$/.exec(regex)?.[1]?.replaceAll('\\.', '.')
  const isPlain =
    scheme !== undefined &&
    host !== undefined &&
    toScheme !== undefined &&
    toHost !== undefined &&
    from !== undefined &&
    /^[a-z0-9.-]+$/i.test(from)
  const takesScheme = regex.includes('https?') || (regex.includes('https:') ? isTls : !isTls)
  if (!isPlain) {
    options.notCarried('the pattern must be a host followed by the whole path; matching requests get 501')
    return [notImported(directive)]
  }
  options.changed('the redirect has the same status for all methods')
  if (!takesScheme) return []
  const found = redirect(directive, { scheme: toScheme, authority: { host: toHost }, status })
  return [
    {
      kind: 'routes',
      routes: [
        { statement: directive, condition: { kind: 'host', host: from.toLowerCase() }, group: null, handlers: [found] },
      ],
    },
  ]
}

const SECRET = /authorization|api-?key|token|secret|password|cookie/i
const OWN = /^x-forwarded-(for|proto|host|port)$/i

function readHeaders(options: Field, facts: PortFacts): Handler[] {
  const found: Handler[] = []
  const tooMany = (field: Field) => () => field.notCarried('a route can change at most 15 headers', true)
  const response = (field: Field, name: string, value: string | object): void => {
    const verb = value === '' ? ('remove' as const) : ('set' as const)
    const change = { verb, name, value, when: null }
    found.push(effect((state) => withHeaders(state, { response: [change] }, tooMany(field))))
  }
  const check = (name: string, field: Field): string | object | null => {
    const value = field.text ?? ''
    if (!isSettable(name) || OWN.test(name) || /[^\x20-\x7e]/.test(value)) {
      field.notCarried('the header name is not valid, or the gateway sets this header itself')
      return null
    }
    if (value !== '' && SECRET.test(name)) {
      const variable = facts.secret(field, name)
      field.changed(`the value is taken from the environment variable ${variable}`)
      return new Variable(variable)
    }
    field.carried()
    return value
  }
  for (const [name, field] of options.get('customRequestHeaders')?.members ?? []) {
    const value = check(name, field)
    const lower = name.toLowerCase()
    if (value === null) continue
    if (lower === 'host') {
      if (typeof value === 'string' && hostPortOf(value, 80) !== null)
        found.push(policy('urlRewrite', { authority: { full: value } }))
      else field.notCarried('the new Host is not a valid hostname')
      continue
    }
    const printed = value === '' ? '[]' : typeof value === 'string' ? JSON.stringify(value) : value
    const change = { name: lower, value: printed, when: null }
    found.push(effect((state) => withHeaders(state, { request: [change] }, tooMany(field))))
  }
  for (const [name, field] of options.get('customResponseHeaders')?.members ?? []) {
    const value = check(name, field)
    if (value !== null) response(field, name.toLowerCase(), value)
  }
  for (const [name, field] of options.members) {
    const fixed = FIXED[name]
    const text = TEXTS[name]
    if (fixed !== undefined) {
      field.carried()
      if (field.isTrue) response(field, ...fixed)
    } else if (text !== undefined && field.text !== null && !/[^\x20-\x7e]/.test(field.text)) {
      field.carried()
      response(field, text, field.text)
    }
  }
  const seconds = options.get('stsSeconds')
  if (seconds !== null && (seconds.number ?? 0) > 0 && facts.isTls) {
    const parts = [`max-age=${seconds.text}`]
    for (const [name, word] of [
      ['stsIncludeSubdomains', 'includeSubDomains'],
      ['stsPreload', 'preload'],
    ] as const) {
      const field = options.get(name)
      field?.carried()
      if (field?.isTrue === true) parts.push(word)
    }
    response(seconds, 'strict-transport-security', parts.join('; '))
  }
  seconds?.carried()
  const cors = corsOf(options)
  return cors === null ? found : [...found, policy('cors', cors)]
}

const FIXED: Readonly<Record<string, [string, string]>> = {
  frameDeny: ['x-frame-options', 'DENY'],
  contentTypeNosniff: ['x-content-type-options', 'nosniff'],
  browserXssFilter: ['x-xss-protection', '1; mode=block'],
}
const TEXTS: Readonly<Record<string, string>> = {
  customFrameOptionsValue: 'x-frame-options',
  contentSecurityPolicy: 'content-security-policy',
  referrerPolicy: 'referrer-policy',
  permissionsPolicy: 'permissions-policy',
  customBrowserXSSValue: 'x-xss-protection',
}

function corsOf(options: Field): object | null {
  const names = [
    'accessControlAllowOriginList',
    'accessControlAllowMethods',
    'accessControlAllowHeaders',
    'accessControlExposeHeaders',
  ] as const
  const [origins, methods, headers, exposed] = names.map((name) => options.get(name))
  if (origins == null) return null
  for (const each of [origins, methods, headers, exposed]) each?.carried()
  const [credentials, age] = [options.get('accessControlAllowCredentials'), options.get('accessControlMaxAge')]
  for (const each of [credentials, age]) each?.carried()
  const list = (field: Field | null | undefined): string[] | undefined => (field == null ? undefined : textsOf(field))
  return withoutAbsent({
    allowOrigins: list(origins),
    allowMethods: list(methods),
    allowHeaders: list(headers),
    exposeHeaders: list(exposed),
    allowCredentials: credentials?.isTrue === true ? true : undefined,
    maxAge: (age?.number ?? 0) > 0 ? `${age?.text}s` : undefined,
  })
}

function forwardAuth(options: Field, close: (why: string) => Handler[]): Handler[] {
  const [, scheme, address = '', rest = '/'] =
    /^(https?):\/\/([^/?#]+)(\/[^#]*)?$/.exec(options.get('address')?.text ?? '') ?? []
  const host = hostPortOf(address, 80)
  if (scheme !== 'http' || host === null) return close('the address needs a named backend; configure an extAuth policy')
  if (options.get('authResponseHeadersRegex') !== null || options.get('tls') !== null)
    return close('the middleware has TLS options or a pattern for headers')
  const [sent, copied] = [textsOf(options.get('authRequestHeaders')), textsOf(options.get('authResponseHeaders'))]
  const requested =
    sent.length > 0 ? sent.map((name) => name.toLowerCase()) : ['accept', 'authorization', 'cookie', 'user-agent']
  options.changed(
    sent.length > 0
      ? 'frontend.forwardedHeaders decides which forwarding headers of clients are trusted'
      : "of the client's headers, the authorizer gets only authorization, cookie, accept and user-agent",
    true,
  )
  return [
    guard(
      'extAuth',
      {
        backendRef: { host },
        http: withoutAbsent({
          path: JSON.stringify(rest),
          allowedRequestHeaders: requested,
          addRequestHeaders: {
            'x-forwarded-host': 'request.host',
            'x-forwarded-method': 'request.method',
            'x-forwarded-proto': 'request.scheme',
            'x-forwarded-uri': 'request.pathAndQuery',
          },
          allowedResponseHeaders: copied.length === 0 ? undefined : copied.map((name) => name.toLowerCase()),
        }),
      },
      (why) => options.notCarried(why, true),
    ),
  ]
}

/**
 * Reads a rate limit: `average` requests in each `period`, with at most `burst` at once. Null when clients are not
 * counted by their address.
 */
function limitOf(options: Field): object | null {
  if (options.get('sourceCriterion') !== null) return null
  const average = options.get('average')?.number ?? 0
  const burst = options.get('burst')?.number ?? 1
  const unit = { s: 'Seconds', '1s': 'Seconds', '1m': 'Minutes', '1h': 'Hours' }[options.get('period')?.text ?? '1s']
  if (unit === undefined || !Number.isInteger(average) || average < 1) return null
  const more = Math.max(0, Math.round(burst) - average)
  return withoutAbsent({ requests: average, unit, burst: more === 0 ? undefined : more, key: 'source.address' })
}
