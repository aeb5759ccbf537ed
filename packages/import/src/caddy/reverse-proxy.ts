import { withoutAbsent } from '../core/config-yaml.ts'
import { durationText } from '../core/duration.ts'
import type { Statement } from '../core/statement.ts'
import type { Action } from '../http/entries.ts'
import { secondsOf } from './durations.ts'
import type { Environment } from './environment.ts'
import { requestHeader, responseHeaders } from './headers.ts'
import { pathAfter } from '../chain/path-state.ts'
import { notImported, statusReply } from '../chain/replies.ts'
import type { Handler } from '../chain/routes.ts'
import { policiesOf, type State } from '../chain/state.ts'
import { readUpstream, type Upstream } from './upstreams.ts'

interface Options {
  readonly tls: Record<string, unknown>
  readonly http: Record<string, unknown>
  readonly tcp: Record<string, unknown>
  readonly policies: Record<string, unknown>
  readonly handlers: Handler[]
  isTls: boolean
  host: string | null
}

/** Reads a `reverse_proxy` directive; `words` are its upstreams. */
export function reverseProxy(statement: Statement, words: readonly string[], env: Environment): Handler[] {
  const options: Options = { tls: {}, http: {}, tcp: {}, policies: {}, handlers: [], isTls: false, host: null }
  const targets = [...words]
  let problem = ''
  statement.carried()
  for (const line of statement.block ?? []) {
    if (line.name === 'to') {
      line.carried()
      targets.push(...line.args)
    } else problem = readOption(line, options, env) || problem
  }
  const upstreams = targets.map((target) => readUpstream(target, env))
  const broken = upstreams.find((each) => typeof each === 'string')
  const found = upstreams.filter((each) => typeof each !== 'string')
  if (broken !== undefined && found.length > 0) statement.notCarried(`an upstream is left out: ${broken}`)
  const why = problem || (found.length === 0 ? (broken ?? 'the proxy has no upstreams') : '')
  if (why !== '') {
    statement.notCarried(`${why}; matching requests get 501`)
    return [notImported(statement)]
  }
  if (found.length > 1) statement.carried('the gateway chooses upstreams at random')
  return [...options.handlers, { kind: 'final', action: (state) => proxyAction(statement, found, options, state) }]
}

function proxyAction(statement: Statement, upstreams: readonly Upstream[], options: Options, state: State): Action {
  if (state.path === null) {
    statement.notCarried('an earlier rewrite was not imported; rewritten requests get 501')
    return statusReply(statement, 501, state)
  }
  const { path } = state
  if (path.isBroken) return statusReply(statement, 400, state)
  const backend = withoutAbsent({
    http: Object.keys(options.http).length === 0 ? undefined : options.http,
    tcp: Object.keys(options.tcp).length === 0 ? undefined : options.tcp,
  })
  return {
    ...{
      name: `${upstreams[0]?.address.replace(/:\d+$/, '').replace(/^unix:.*\//, '')}-${statement.at.line}`,
      at: statement.at,
      source: statement.text,
    },
    backends: upstreams.map(({ host, isTls, isHttp2 }) => {
      const policies = withoutAbsent({
        tls: isTls || options.isTls ? options.tls : undefined,
        http: isHttp2 ? { version: 'HTTP2' } : undefined,
      })
      return withoutAbsent({ host, policies: Object.keys(policies).length === 0 ? undefined : policies })
    }),
    policies: withoutAbsent({
      ...policiesOf(state, true),
      ...hostPolicy(options.host, upstreams),
      ...options.policies,
      backend: Object.keys(backend).length === 0 ? undefined : backend,
    }),
    outcome: {
      kind: 'proxy',
      addresses: upstreams.map(({ address }) => address),
      pathFor: (text) => pathAfter(path, text),
    },
  }
}

/**
 * Returns the policy for the `Host` of upstream requests. Caddy sends the client's `Host` unless the config says
 * otherwise.
 */
function hostPolicy(host: string | null, [first, ...others]: readonly Upstream[]): object {
  if (host === null) return { hostRewrite: { mode: 'None' } }
  if (host !== 'upstream') return { urlRewrite: { authority: { full: host } } }
  const isSingleAddress =
    first !== undefined && others.length === 0 && first.isAddress && typeof first.host === 'string'
  return isSingleAddress && !first.address.startsWith('unix:')
    ? { urlRewrite: { authority: { full: first.address } } }
    : { hostRewrite: { mode: 'Auto' } }
}

/**
 * Reads one option of `reverse_proxy`. Returns the reason as a string when the whole proxy cannot be imported because
 * of the option; otherwise the string is empty.
 */
function readOption(line: Statement, options: Options, env: Environment): string {
  const { name, args } = line
  const [first = ''] = args
  if (name === 'header_up') {
    if (first.toLowerCase() === 'host') return readHost(line, options)
    options.handlers.push(requestHeader(line, args, env))
  } else if (name === 'header_down') options.handlers.push(responseHeaders(line, args, env))
  else if (name === 'transport') return readTransport(line, options)
  else if (name === 'lb_policy' || name === 'lb_method') {
    if (first === 'random') line.carried()
    else if (first === 'cookie') {
      line.changed("the gateway chooses the cookie's value")
      options.policies['sessionPersistence'] = /^[\w-]+$/.test(args[1] ?? '') ? { sessionName: args[1] } : {}
    } else
      line.changed(
        'the gateway chooses upstreams at random; a sessionPersistence policy keeps a client at one upstream',
      )
  } else if (name === 'lb_retries') {
    const attempts = Math.min(Number(first), 5)
    if (attempts > 0) {
      line.changed('only requests with idempotent methods are retried after a lost connection')
      options.policies['retry'] = { attempts }
    } else line.notCarried('the number of retries is not a positive number')
  } else if (name === 'rewrite' || name === 'method' || name === 'dynamic' || name === 'handle_response') {
    line.notCarried('the gateway has no counterpart for this proxy option')
    return name === 'handle_response' ? '' : `the option ${name} has no counterpart`
  } else if (name.startsWith('@') || name === 'replace_status' || name === 'copy_response') {
    line.notCarried('the gateway does not replace responses of backends')
  } else
    line.notCarried(
      OPTION_NOTES[name.replace(/_.*/, '')] ??
        OPTION_NOTES[name] ??
        'the gateway has no counterpart for this proxy option',
    )
  return ''
}

const OPTION_NOTES: Readonly<Record<string, string>> = {
  health: 'the gateway sends no health checks; a health policy learns from traffic: docs/backends.md',
  fail: 'the gateway sends no health checks; a health policy learns from traffic: docs/backends.md',
  max: 'the gateway sends no health checks; a health policy learns from traffic: docs/backends.md',
  unhealthy: 'the gateway sends no health checks; a health policy learns from traffic: docs/backends.md',
  lb: 'the gateway tries other addresses when a connection fails',
  flush: 'the gateway streams bodies instead of buffering them',
  buffer: 'the gateway streams bodies instead of buffering them',
  request: 'the gateway streams bodies instead of buffering them',
  response: 'the gateway streams bodies instead of buffering them',
  stream: 'upgraded connections have no time limit',
  trusted: 'frontend.forwardedHeaders decides which forwarding headers of clients are trusted',
  verbose: 'configure logs and metrics in the gateway: docs/logs-and-metrics.md',
}

const UPSTREAM_HOST = /^\{(upstream_hostport|http\.reverse_proxy\.upstream\.(hostport|host))\}$/

function readHost(line: Statement, options: Options): string {
  const [, value = ''] = line.args
  if (UPSTREAM_HOST.test(value)) options.host = 'upstream'
  else if (/^\{(host|hostport|http\.request\.(host|hostport|header\.Host))\}$/.test(value)) options.host = null
  else if (/^[a-zA-Z0-9.-]+(:\d{1,5})?$/.test(value)) options.host = value
  else {
    line.notCarried('the importer does not know a placeholder of the Host')
    return 'the importer cannot tell the Host of upstream requests'
  }
  line.carried()
  return ''
}

function readTransport(transport: Statement, options: Options): string {
  if (transport.args[0] !== 'http') {
    transport.notCarried('the gateway calls backends by HTTP only')
    return 'the transport is not HTTP'
  }
  transport.carried()
  for (const line of transport.block ?? []) {
    const [first = ''] = line.args
    const seconds = secondsOf(first)
    const isTime = seconds !== null && seconds >= 0.001
    if (line.name.startsWith('tls')) {
      options.isTls = true
      if (line.name === 'tls' && first === '') line.carried()
      else if (line.name === 'tls_insecure_skip_verify') {
        line.carried()
        options.tls['insecureSkipVerify'] = 'All'
      } else if (line.name === 'tls_server_name' && /^[a-zA-Z0-9.-]+$/.test(first)) {
        line.carried()
        options.tls['sni'] = first
      } else if (line.name === 'tls_trusted_ca_certs' && line.args.length > 0) {
        line.carried('copy the file to this path, or change the path')
        options.tls['caCertificateRefs'] = [...line.args]
      } else if (line.name === 'tls_client_auth' && line.args.length === 2) {
        line.carried('copy the files to these paths, or change the paths')
        options.tls['mtlsCertificateRef'] = { cert: first, key: line.args[1] }
      } else line.notCarried('configure a tls policy: docs/policies/backend-tls.md')
    } else if (line.name === 'versions' && line.args.includes('h2c')) {
      line.carried()
      options.http['version'] = 'HTTP2'
    } else if (line.name === 'response_header_timeout' && isTime) {
      line.carried()
      options.http['requestTimeout'] = durationText(Math.min(seconds, 86_400))
    } else if (line.name === 'dial_timeout' && isTime) {
      line.carried()
      options.tcp['connectTimeout'] = durationText(Math.min(seconds, 86_400))
    } else
      line.notCarried(
        line.name.startsWith('keepalive')
          ? 'the gateway always keeps connections open'
          : 'the gateway has no counterpart for this transport option',
      )
  }
  return ''
}
