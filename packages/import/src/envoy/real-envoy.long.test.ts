import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { closedPort, useOrigin } from '../../../gateway/src/testing/scene.ts'
import type { ImportedConfig } from '../core/import-result.ts'
import { outcomeOf, type SentRequest, useImported, useProgram } from '../testing/real-gateway.ts'
import { importEnvoy } from './import-envoy.ts'

const hasEnvoy = spawnSync('envoy', ['--version']).status === 0
const TYPES = 'type.googleapis.com/envoy.extensions.filters'

const text = (name: string, value: string) => ({ [name]: value })
const strings = fc.oneof(
  fc.constantFrom('one', 'two', 'One').map((value) => text('exact', value)),
  fc.constantFrom('on', 't').map((value) => text('prefix', value)),
  fc.constantFrom('e', 'wo').map((value) => text('suffix', value)),
  fc.constant({ contains: 'n' }),
  fc.constant({ exact: 'ONE', ignore_case: true }),
  fc.constantFrom('o.*', '(one|two)').map((regex) => ({ safe_regex: { regex } })),
)
const header = fc.oneof(
  fc.record({ string_match: strings, invert_match: fc.boolean() }).map((match) => ({ name: 'x-kind', ...match })),
  fc.constantFrom(true, false).map((isPresent) => ({ name: 'x-kind', present_match: isPresent })),
  fc.constant({
    name: 'x-kind',
    string_match: { exact: 'one' },
    invert_match: true,
    treat_missing_header_as_empty: true,
  }),
  fc.constantFrom('GET', 'POST').map((method) => ({ name: ':method', string_match: { exact: method } })),
  fc.constant({ name: ':path', string_match: { prefix: '/a' } }),
)
const query = fc.oneof(
  strings.map((match) => ({ name: 'kind', string_match: match })),
  fc.constant({ name: 'kind', present_match: true }),
)
const path = fc.oneof(
  fc.constantFrom('/', '/a', '/a/', '/api/v', '/A').map((value) => text('prefix', value)),
  fc.constantFrom('/a', '/a/b', '/api/v1').map((value) => text('path', value)),
  fc.constantFrom('/a', '/api').map((value) => text('path_separated_prefix', value)),
  fc.constantFrom('/api/v[0-9]+', '/a.*', '/(a|api)/.*').map((regex) => ({ safe_regex: { regex } })),
)
const match = fc
  .record({
    path,
    headers: fc.array(header, { maxLength: 1 }),
    query_parameters: fc.array(query, { maxLength: 1 }),
    isCaseless: fc.nat(5),
  })
  .map(({ path: found, isCaseless, ...rest }) => ({
    ...found,
    ...rest,
    ...(isCaseless === 0 && !('safe_regex' in found) && { case_sensitive: false }),
  }))
const action = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .record({
        cluster: fc.constantFrom('c0', 'c1', 'c2'),
        rewrite: fc.constantFrom(
          {},
          {},
          { prefix_rewrite: '/' },
          { prefix_rewrite: '/new/' },
          { regex_rewrite: { pattern: { regex: '^/([a-z]+)' }, substitution: '/x/\\1' } },
        ),
        host: fc.constantFrom({}, {}, { host_rewrite_literal: 'other.test' }, { host_rewrite_header: 'x-kind' }),
      })
      .map(({ cluster, rewrite, host }) => ({ route: { cluster, ...rewrite, ...host } })),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<object[]>(
      { redirect: { host_redirect: 'moved.test', response_code: 'FOUND' } },
      { redirect: { https_redirect: true, path_redirect: '/there' } },
      { redirect: { port_redirect: 8443, response_code: 'PERMANENT_REDIRECT' } },
      { redirect: { prefix_rewrite: '/moved/', response_code: 'SEE_OTHER' } },
      { redirect: { prefix_rewrite: '/', host_redirect: 'moved.test', strip_query: true } },
      {
        redirect: { regex_rewrite: { pattern: { regex: '^/([a-z]+)' }, substitution: '/x/\\1' }, https_redirect: true },
      },
      { redirect: { path_redirect: '/there?b=2', strip_query: true } },
      { redirect: { strip_query: true, scheme_redirect: 'https' } },
      { direct_response: { status: 202, body: { inline_string: 'text' } } },
    ),
  },
)
const headerActions = ['APPEND_IF_EXISTS_OR_ADD', 'ADD_IF_ABSENT', 'OVERWRITE_IF_EXISTS_OR_ADD', 'OVERWRITE_IF_EXISTS']
const changes = fc
  .record({
    added: fc.option(
      fc.record({
        append_action: fc.constantFrom(...headerActions),
        value: fc.constantFrom('v1', 'v2', '%REQ(x-kind)%!', '100%%'),
      }),
    ),
    isRemoved: fc.boolean(),
    seen: fc.option(fc.constantFrom('s1', 's2')),
  })
  .map(({ added, isRemoved, seen }) => ({
    ...(added !== null && {
      request_headers_to_add: [{ header: { key: 'x-added', value: added.value }, append_action: added.append_action }],
    }),
    ...(isRemoved && { request_headers_to_remove: ['x-added'] }),
    ...(seen !== null && {
      response_headers_to_add: [{ header: { key: 'x-seen', value: seen }, append_action: headerActions[2] }],
    }),
  }))
const permission = fc.oneof(
  header.map((each) => ({ header: each })),
  fc.constantFrom('/a', '/api').map((prefix) => ({ url_path: { path: { prefix } } })),
  fc.constant({ not_rule: { header: { name: ':method', string_match: { exact: 'GET' } } } }),
  fc.constant({ any: true }),
)
const principal = fc.constantFrom<object[]>(
  { any: true },
  { direct_remote_ip: { address_prefix: '127.0.0.0', prefix_len: 8 } },
  { not_id: { direct_remote_ip: { address_prefix: '10.0.0.0', prefix_len: 8 } } },
  { header: { name: 'x-kind', string_match: { exact: 'two' } } },
)
const rbac = fc
  .record({
    action: fc.constantFrom('ALLOW', 'DENY'),
    permissions: fc.array(permission, { minLength: 1, maxLength: 2 }),
    principals: fc.array(principal, { minLength: 1, maxLength: 2 }),
  })
  .map(({ action: kind, ...rule }) => ({
    '@type': `${TYPES}.http.rbac.v3.RBACPerRoute`,
    rbac: { rules: { action: kind, policies: { one: rule } } },
  }))
const fault = fc.constant({
  '@type': `${TYPES}.http.fault.v3.HTTPFault`,
  abort: { http_status: 418, percentage: { numerator: 100 } },
  headers: [{ name: 'x-kind', string_match: { exact: 'two' } }],
})
const filters = fc
  .record({ rbac: fc.option(rbac, { freq: 3 }), fault: fc.option(fault, { freq: 3 }) })
  .map((found) => Object.fromEntries(Object.entries(found).filter(([, config]) => config !== null)))
const route = fc
  .record({ match, action, changes, filters })
  .map(({ match: found, action: act, changes: more, filters: own }) => ({
    ...{ match: found, ...act, ...more, typed_per_filter_config: own },
  }))
const host = fc.record({ routes: fc.array(route, { minLength: 1, maxLength: 4 }), changes, filters })
const sample = fc.array(host, { minLength: 3, maxLength: 3 })

type Host = { routes: object[]; changes: object; filters: object }

const HOSTS = ['a', 'b.c', 'x.b.c', 'q', 'none.a']
const REQUESTS = HOSTS.flatMap((name): SentRequest[] => [
  ...[
    '/',
    '/a',
    '/a/',
    '/a/b',
    '/ab',
    '/A/b',
    '/api',
    '/api/v1',
    '/api/v2/x',
    '/b?kind=one',
    '/a?kind=two&kind=one',
  ].map((url) => ({ host: name, path: url })),
  { host: name, path: '/a/b', method: 'POST' },
  { host: name, path: '/a', headers: { 'x-kind': 'one', 'x-added': 'client' } },
  { host: name, path: '/api/v1', headers: { 'x-kind': 'two' } },
  { host: name, path: '/a/b?kind=one', headers: { 'x-kind': 'ONE' } },
])

/** Each virtual host gets one domain: an exact domain, a suffix, or a shorter suffix. */
function virtualHosts(hosts: readonly Host[], index: number): object[] {
  const domains = [`a.s${index}.test`, `*.b.c.s${index}.test`, `*.s${index}.test`]
  return hosts.map(({ routes, changes: own, filters: config }, at) => ({
    ...{ name: `h${index}-${at}`, domains: [domains[at]], routes, ...own, typed_per_filter_config: config },
  }))
}

function bootstrap(virtual: readonly object[], port: number, origins: readonly number[]): object {
  const manager = {
    '@type': `${TYPES}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: 'test',
    route_config: { virtual_hosts: virtual },
    http_filters: [
      { name: 'rbac', typed_config: { '@type': `${TYPES}.http.rbac.v3.RBAC` } },
      { name: 'fault', typed_config: { '@type': `${TYPES}.http.fault.v3.HTTPFault` } },
      { name: 'router', typed_config: { '@type': `${TYPES}.http.router.v3.Router` } },
    ],
  }
  const address = (port_value: number) => ({ socket_address: { address: '127.0.0.1', port_value } })
  return {
    static_resources: {
      listeners: [{ address: address(port), filter_chains: [{ filters: [{ name: 'http', typed_config: manager }] }] }],
      clusters: origins.map((origin, at) => ({
        name: `c${at}`,
        load_assignment: {
          cluster_name: `c${at}`,
          endpoints: [{ lb_endpoints: [{ endpoint: { address: address(origin) } }] }],
        },
      })),
    },
  }
}

/**
 * Sends a request and returns its outcome. Headers of error responses are left out, because Envoy sends the headers of
 * a route only with some errors.
 */
async function outcome(port: number, request: SentRequest): Promise<object> {
  const found = (await outcomeOf(port, request)) as { readonly status: number }
  return found.status < 400 ? found : { status: found.status }
}

function importText(config: object): ImportedConfig {
  const result = importEnvoy([{ name: 'envoy.json', text: JSON.stringify(config, null, 1) }])
  return result.ok ? result.value : assert.fail(result.problem.message)
}

test(
  'random virtual hosts lead to the same upstream, path, status and headers as in Envoy',
  { skip: hasEnvoy ? false : 'envoy is not installed' },
  async (t) => {
    const origins = await Promise.all(
      [0, 1, 2].map(async (index) => {
        const { port } = await useOrigin(t, (seen, response) => {
          const { host: name, 'x-added': added } = seen.headers
          response.end(JSON.stringify({ index, url: seen.url, host: name, added }))
        })
        return port
      }),
    )
    const [seed, port] = [Number(process.env.PORTICO_SEED ?? 9), await closedPort()]
    const samples = fc
      .sample(sample, { numRuns: 60, seed })
      .map((hosts, index) => virtualHosts(hosts, index))
      // Configs with routes that are not carried are left out: they behave differently after the import.
      .filter((virtual) =>
        importText(bootstrap(virtual, port, origins)).report.every(
          ({ verdict, name }) => verdict !== 'not carried' || name.endsWith('stat_prefix'),
        ),
      )
      .slice(0, 30)
    const config = bootstrap(samples.flat(), port, origins)
    await useProgram(t, {
      ...{
        command: 'envoy',
        args: (file) => ['-c', file, '--disable-hot-restart', '--concurrency', '1', '-l', 'error'],
      },
      ...{ file: 'envoy.json', config: JSON.stringify(config), port },
    })
    const imported = await useImported(t, importText(config), 'envoy')
    for (const virtual of samples) {
      const suffix = /\.(s\d+\.test)/.exec(JSON.stringify(virtual))?.[1] ?? ''
      for (const { host: name, ...rest } of REQUESTS) {
        const request = { ...rest, host: `${name}.${suffix}` }
        const [expected, actual] = [await outcome(port, request), await outcome(imported, request)]
        assert.deepEqual(
          actual,
          expected,
          `seed ${seed}, ${JSON.stringify(request)}\n${JSON.stringify(virtual, null, 1)}`,
        )
      }
    }
    assert.ok(samples.length >= 20, String(samples.length))
    t.diagnostic(`compared ${samples.length * REQUESTS.length} requests`)
  },
)
