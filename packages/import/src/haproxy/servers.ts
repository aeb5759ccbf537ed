import { withoutAbsent } from '../core/config-yaml.ts'
import type { Statement } from '../core/statement.ts'
import { hostPortOf } from '../http/addresses.ts'
import { backendTimeouts } from '../http/timeouts.ts'
import { secondsOf } from './format.ts'
import { lastLine, type Proxy } from './proxies.ts'

/** The servers of a HAProxy backend, in the form of a route's backends and policies. */
export interface Servers {
  readonly backends: readonly object[]
  readonly addresses: readonly string[]
  readonly policies: Readonly<Record<string, unknown>>
}

/** Reads the servers of a `backend` or `listen`. The list is empty when no server can be imported. */
export function readServers(proxy: Proxy): Servers {
  const standard = [...proxy.inherited, ...proxy.lines].filter(({ name }) => name === 'default-server')
  for (const each of standard)
    each.changed('the gateway sends no health checks; configure a health policy: docs/backends.md')
  const shared = standard.flatMap(({ args }) => args)
  const servers = proxy.lines.flatMap((line) => readServer(line, shared) ?? [])
  noteOthers(proxy)
  const cookie = lastLine(proxy, 'cookie')
  const sessionName = cookie?.args[0] ?? ''
  const isSticky = cookie !== null && /^[\w-]+$/.test(sessionName)
  if (isSticky) cookie.changed("the gateway chooses the cookie's value")
  const [connect, server] = [lastLine(proxy, 'timeout', 'connect'), lastLine(proxy, 'timeout', 'server')]
  const backend = backendTimeouts(
    takeSeconds(connect, ''),
    takeSeconds(server, 'the time limit applies until the response begins'),
  )
  return {
    backends: servers.map(({ backend: each }) => each),
    addresses: servers.map(({ host }) => host),
    policies: withoutAbsent({
      hostRewrite: { mode: 'None' },
      sessionPersistence: isSticky ? { sessionName } : undefined,
      retry: retryOf(proxy),
      backend: Object.keys(backend).length === 0 ? undefined : backend,
    }),
  }
}

/** Returns the seconds of a `timeout` line and marks the line; returns null when the line has no time. */
function takeSeconds(line: Statement | null, note: string): number | null {
  const seconds = secondsOf(line?.args[1] ?? '')
  if (line === null || seconds === null || seconds < 0.001) return null
  if (note === '') line.carried()
  else line.changed(note)
  return seconds
}

/**
 * Returns the retry policy for `retry-on`. Failed connections need no policy, because the gateway always tries other
 * addresses.
 */
function retryOf(proxy: Proxy): object | undefined {
  const on = lastLine(proxy, 'retry-on')
  const retries = lastLine(proxy, 'retries')
  const codes = (on?.args ?? []).flatMap((arg) => (/^[45]\d\d$/.test(arg) ? [Number(arg)] : []))
  const attempts = Math.min(Number(retries?.args[0] ?? 3), 5)
  retries?.changed(
    'the number becomes the attempts of a retry policy; the gateway tries other addresses when a connection fails',
  )
  if (on === null || on.args[0] === 'none' || !(attempts > 0)) return undefined
  on.changed('only requests with idempotent methods are retried after lost connections and timeouts')
  return withoutAbsent({ attempts, codes: codes.length === 0 ? undefined : codes })
}

const WITH_VALUE = new Set([
  ...[
    'weight',
    'inter',
    'fastinter',
    'downinter',
    'rise',
    'fall',
    'port',
    'addr',
    'maxconn',
    'minconn',
    'cookie',
    'sni',
  ],
  ...['ca-file', 'crt', 'verify', 'verifyhost', 'alpn', 'resolvers', 'resolve-prefer', 'init-addr', 'slowstart', 'id'],
  ...['observe', 'on-error', 'error-limit', 'on-marked-down', 'on-marked-up', 'maxqueue', 'proto', 'source', 'track'],
  ...[
    'pool-max-conn',
    'pool-purge-delay',
    'ciphers',
    'ssl-min-ver',
    'ssl-max-ver',
    'check-sni',
    'check-alpn',
    'crl-file',
  ],
])

function readOptions(args: readonly string[]): Map<string, string> {
  const options = new Map<string, string>()
  for (let index = 0; index < args.length; index++) {
    const name = args[index] ?? ''
    options.set(name, WITH_VALUE.has(name) ? (args[++index] ?? '') : '')
  }
  return options
}

function readServer(line: Statement, shared: readonly string[]): { host: string; backend: object } | null {
  if (line.name !== 'server') return null
  const [, address = '', ...own] = line.args
  const options = readOptions([...shared, ...own])
  const host = serverAddress(address, options.has('ssl') ? 443 : 80)
  if (host === null) {
    line.notCarried('the address is not a host with a port')
    return null
  }
  if (options.has('disabled') || options.has('backup')) {
    line.notCarried(
      options.has('backup')
        ? 'the backup server gets no requests: the gateway does not order backends'
        : 'the server is disabled, so it gets no requests',
    )
    return null
  }
  const weight = Number(options.get('weight') ?? 1)
  const tls = options.has('ssl') ? tlsOf(options) : undefined
  const lost = [...readOptions(own).keys()].filter(
    (name) => !['weight', 'ssl', 'verify', 'ca-file', 'crt', 'sni', 'cookie'].includes(name),
  )
  if (options.has('ssl') && options.get('verify') !== 'none') {
    line.changed(
      `the gateway also verifies the name in the certificate of the server${lost.length > 0 ? `; the importer ignores ${lost.join(', ')}` : ''}`,
    )
  } else if (lost.length > 0)
    line.changed(`the importer ignores ${lost.join(', ')}; a health policy evicts failing servers`)
  else line.carried()
  if (options.has('send-proxy') || options.has('send-proxy-v2')) {
    line.notCarried('the gateway does not send the PROXY protocol to servers')
    return null
  }
  const backend = withoutAbsent({
    host,
    weight: weight === 1 || !Number.isInteger(weight) || weight < 0 || weight > 256 ? undefined : weight,
    policies: tls === undefined ? undefined : { tls },
  })
  return { host, backend }
}

/**
 * Returns the address as `host:port`. Null for an address without a port, for which HAProxy uses the port of the
 * client's connection.
 */
function serverAddress(address: string, port: number): string | null {
  const socket = /^(?:unix@)?(\/[\w./-]+)$/.exec(address)
  return socket === null ? hostPortOf(address.replace(/^ipv[46]@/, ''), port) : `unix:${socket[1]}`
}

function tlsOf(options: ReadonlyMap<string, string>): object {
  const sni = /^str\(([a-z0-9.-]+)\)$/.exec(options.get('sni') ?? '')?.[1]
  const authorities = options.get('ca-file')
  const certificate = options.get('crt')
  return withoutAbsent({
    sni,
    caCertificateRefs: authorities === undefined || authorities.startsWith('@') ? undefined : [authorities],
    mtlsCertificateRef: certificate === undefined ? undefined : { cert: certificate, key: certificate },
    insecureSkipVerify: options.get('verify') === 'none' ? 'All' : undefined,
  })
}

function noteOthers(proxy: Proxy): void {
  for (const line of [...proxy.inherited, ...proxy.lines]) {
    if (line.name === 'balance') {
      if (line.args[0] === 'roundrobin' || line.args[0] === 'static-rr')
        line.carried('the gateway chooses servers at random, by weight')
      else
        line.changed(
          'the gateway chooses servers at random, by weight; a sessionPersistence policy keeps a client at one server',
        )
    }
    if (line.name === 'server-template')
      line.notCarried('configure a backend with the name; the gateway uses all addresses of a name')
    if (line.name === 'http-check' || (line.name === 'option' && line.args[0]?.endsWith('chk') === true)) {
      line.notCarried('the gateway sends no health checks; a health policy learns from traffic: docs/backends.md')
    }
  }
}
