import type { StatedBehavior, StatedTest } from '../core/test-file.ts'
import {
  coversHost,
  type FieldCondition,
  type HttpMatch,
  type HttpPort,
  type HttpRule,
  hostWithValues,
  type PathCondition,
} from './model.ts'
import { matchesOf } from './order.ts'
import { fitsPath, fitsRegex } from './paths.ts'

/** Returns tests for each rule of the ports without TLS: which upstream and path a request gets. */
export function behaviorOf(ports: readonly HttpPort[], env: Readonly<Record<string, string>> = {}): StatedBehavior {
  const tests = ports
    .filter(({ certificates, policies }) => certificates === null && !('authorization' in policies))
    .flatMap(({ port, rules: found }) => {
      const rules = found.map((rule) => ({
        ...rule,
        hosts: rule.hosts.map((host) => hostWithValues(host, env)),
      }))
      return rules.slice(0, MOST_TESTS).flatMap((rule) => testOf(rule, rules, port) ?? [])
    })
  return { env, upstreams: { '*': { body: 'ok' } }, tests }
}

/** The most rules for which tests are made, because each test is compared with all rules of its port. */
const MOST_TESTS = 500

/** The request that a test sends. */
interface ExampleRequest {
  readonly host: string
  readonly path: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
}

const UNKNOWN_HOST = 'any-other-host.test'
/** Policies that deny the example requests of tests. */
const GUARDS = ['authorization', 'basicAuthentication', 'apiKeyAuthentication', 'jwtAuthentication', 'extAuth']

function testOf(rule: HttpRule, rules: readonly HttpRule[], port: number): StatedTest | null {
  const { outcome } = rule
  if (outcome.kind === 'untold' || GUARDS.some((name) => name in rule.policies)) return null
  const request = examplesOf(rule).find((each) => chosenRule(each, rules) === rule)
  if (request === undefined) return null
  const { host, path, method, headers } = request
  const send = {
    ...(method !== 'GET' && { method }),
    ...{ path, host, port },
    ...(Object.keys(headers).length > 0 && { headers }),
  }
  const name = `${method === 'GET' ? '' : `${method} `}${host}:${port}${path}`
  if (outcome.kind === 'status') return { name, send, expect: { status: outcome.status, upstream: null } }
  const [first, ...others] = [...new Set(outcome.addresses)]
  const upstream = { address: others.length === 0 ? first : [first, ...others], path: outcome.pathFor(path) }
  return { name, send, expect: { status: 200, upstream } }
}

/** Returns the first rule that matches a request; undefined when the importer cannot tell whether a rule matches. */
function chosenRule(request: ExampleRequest, rules: readonly HttpRule[]): HttpRule | null | undefined {
  for (const rule of rules) {
    if (rule.hosts.length > 0 && !rule.hosts.some((host) => coversHost(host, request.host))) continue
    const fits = matchesOf(rule).map((match) => fitsMatch(match, request))
    if (fits.includes(true)) return rule
    if (fits.includes(null)) return undefined
  }
  return null
}

function fitsMatch({ path, method, headers, query }: HttpMatch, request: ExampleRequest): boolean | null {
  const found = [
    fitsPath(path, request.path),
    method === null || method === request.method,
    ...headers.map((each) => fitsField(each, headerOf(each.name, request))),
    ...query.map(() => false),
  ]
  return found.includes(false) ? false : found.includes(null) ? null : true
}

function headerOf(name: string, { host, path, method, headers }: ExampleRequest): string | undefined {
  const parts: Readonly<Record<string, string>> = {
    ':authority': host,
    host,
    ':method': method,
    ':path': path,
    ':scheme': 'http',
  }
  return Object.hasOwn(parts, name) ? parts[name] : headers[name]
}

function fitsField({ value }: FieldCondition, found: string | undefined): boolean | null {
  if (found === undefined) return false
  return 'exact' in value ? value.exact === found : fitsRegex(value.regex, found)
}

/** Returns example requests that match a rule. An earlier rule may still match them first. */
function examplesOf(rule: HttpRule): ExampleRequest[] {
  const hosts =
    rule.hosts.length === 0 ? [UNKNOWN_HOST] : rule.hosts.slice(0, 4).map((host) => host.replace('*', 'any'))
  return matchesOf(rule)
    .slice(0, 8)
    .flatMap((match) => {
      const sent = match.headers.filter(({ name }) => !name.startsWith(':') && name !== 'host')
      const headers = Object.fromEntries(
        sent.map(({ name, value }) => [name, 'exact' in value ? value.exact : 'example']),
      )
      const authority = match.headers.find(({ name }) => name === ':authority' || name === 'host')
      const names = authority !== undefined && 'exact' in authority.value ? [authority.value.exact] : hosts
      const methods = match.headers.flatMap(({ name, value }) =>
        name === ':method' && 'exact' in value ? value.exact : [],
      )
      const [method = match.method ?? 'GET'] = methods
      return names.flatMap((host) => examplePaths(match.path).map((path) => ({ host, path, method, headers })))
    })
    .filter(
      ({ method, host }) => ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].includes(method) && /^[a-z0-9.-]+$/.test(host),
    )
}

function examplePaths(path: PathCondition | null): string[] {
  if (path === null) return ['/example', '/', '/no-such-path/x.y']
  if (path.kind === 'exact') return [path.path]
  if (path.kind === 'pattern') return pathsOfPattern(path.regex)
  const inner = path.path.endsWith('/') ? path.path : `${path.path}/`
  return [`${inner}example`, path.path, ...(path.kind === 'start' ? [`${path.path}example`] : []), `${inner}x/y.z`]
}

/** Returns example paths for a simple pattern: of each choice the first part, and a word for each star. */
function pathsOfPattern(regex: string): string[] {
  const plain = regex
    .replace('(?i)', '')
    .replaceAll('(?:)', '')
    .replaceAll(/\\d[+*]?|\[0-9\][+*]?/g, '7')
    .replaceAll(/\[\^\/?\][+*]?|\\w[+*]|\[[a-z0-9A-Z_\-.]+\][+*]/g, 'x')
  for (let text = plain; ;) {
    const inner = text.replaceAll(
      /\((?:\?:|\?P<\w+>)?([^()|]*)(?:\|[^()]*)?\)([?*])?/g,
      (_all, first: string, times?: string) => (times === undefined ? first : ''),
    )
    if (inner === text) {
      const paths = [text.replaceAll('.*', 'example'), text.replaceAll('.*', ''), text.replaceAll('.+', 'example')].map(
        (each) => each.replaceAll(/\\([^\w])/g, '$1').replaceAll(/[?^$]/g, ''),
      )
      return [...new Set(paths.flatMap((each) => [each, `/${each}`]))].filter((each) => /^\/[\w./~-]*$/.test(each))
    }
    text = inner
  }
}
