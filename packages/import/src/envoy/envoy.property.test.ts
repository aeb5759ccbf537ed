import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig, printProblem } from '../../../gateway/src/sources/config-file.ts'
import { printImport } from '../core/print-import.ts'
import { importEnvoy } from './import-envoy.ts'

const type = (name: string) => `type.googleapis.com/envoy.extensions.filters.${name}`
const percent = { default_value: { numerator: 100 } }
const token = { name: 'x-a', string_match: { exact: 'b' } }

const matches = fc.record(
  {
    headers: fc.subarray([
      token,
      { ...token, invert_match: true },
      { name: ':method', string_match: { exact: 'POST' } },
      { name: 'x-n', range_match: { start: 1, end: 2 } },
      { name: 'x-p', present_match: false },
    ]),
    query_parameters: fc.subarray([{ name: 'q', string_match: { prefix: 'a', ignore_case: true } }, { name: 'r' }]),
    case_sensitive: fc.boolean(),
    runtime_fraction: fc.constantFrom({ default_value: { numerator: 5 } }, percent),
    grpc: fc.constant({}),
  },
  { requiredKeys: [] },
)
const paths = fc.constantFrom<object[]>(
  ...[{ prefix: '/' }, { prefix: '/a/' }, { path: '/a/b' }, { path_separated_prefix: '/a' }, { connect_matcher: {} }],
  ...[{ safe_regex: { regex: '/v[0-9]+' } }, { safe_regex: { regex: '(' } }, { prefix: '/../x' }, {}],
  { path_match_policy: { typed_config: { path_template: '/t/{id}' } } },
)
const headers = fc.constantFrom<object[]>(
  { header: { key: 'X-A', value: 'b' } },
  { header: { key: 'x-a', value: '%REQ(:path)% 100%%' }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' },
  { header: { key: 'authorization', value: 's3cret' }, append_action: 'ADD_IF_ABSENT' },
  { header: { key: 'cookie', value: 's3cret' } },
  { header: { key: 'x-c', value: '%UNKNOWN%' }, append: false },
  { header: { key: 'host', value: 'a.test' } },
  { header: { key: 'content-length', value: '1' } },
)
const actions = fc.oneof(
  fc.record({
    route: fc.record(
      {
        cluster: fc.constantFrom('one', 'two', 'dns', 'eds', 'none', 'any'),
        prefix_rewrite: fc.constantFrom('/', '/b', 'x'),
        regex_rewrite: fc.constant({ pattern: { regex: '^/(a)' }, substitution: '/\\1$' }),
        timeout: fc.constantFrom('0s', '1.5s', 'x'),
        host_rewrite_literal: fc.constantFrom('a.test', 'a b'),
        auto_host_rewrite: fc.boolean(),
        retry_policy: fc.constantFrom({ retry_on: '5xx' }, { retry_on: 'cancelled', num_retries: 0 }),
        hash_policy: fc.constant([{ cookie: { name: 'c', ttl: '5s' } }, { header: { header_name: 'a' } }]),
        request_mirror_policies: fc.constant([{ cluster: 'dns' }, { cluster: 'one', runtime_fraction: percent }]),
        metadata_match: fc.constant({ a: 1 }),
        rate_limits: fc.constant([{ actions: [{ remote_address: {} }, { destination_cluster: {} }] }]),
      },
      { requiredKeys: ['cluster'] },
    ),
  }),
  fc.constantFrom<object[]>(
    {
      route: {
        weighted_clusters: {
          clusters: [
            { name: 'one', weight: 3 },
            { name: 'two', weight: 97 },
          ],
        },
      },
    },
    { redirect: { https_redirect: true, host_redirect: 'b.test', port_redirect: 8443 } },
    { redirect: { path_redirect: '/x?y', prefix_rewrite: '/z' } },
    { direct_response: { status: 200, body: { inline_string: '' } } },
    { direct_response: { status: 100 } },
    {},
  ),
)
const filters = fc.subarray<object>(
  [
    { name: 'cors', typed_config: { '@type': type('http.cors.v3.Cors') } },
    { name: 'csrf', typed_config: { '@type': type('http.csrf.v3.CsrfPolicy'), filter_enabled: percent } },
    {
      name: 'rbac',
      typed_config: {
        '@type': type('http.rbac.v3.RBAC'),
        rules: {
          action: 'DENY',
          policies: {
            p: {
              permissions: [{ header: token }],
              principals: [{ source_ip: { address_prefix: '::1', prefix_len: 128 } }],
            },
          },
        },
      },
    },
    {
      name: 'jwt',
      typed_config: {
        '@type': type('http.jwt_authn.v3.JwtAuthentication'),
        providers: { p: { issuer: 'i', local_jwks: { inline_string: '{"keys":[]}' } } },
        rules: [{ match: { prefix: '/a' } }, { match: { prefix: '/' }, requires: { provider_name: 'none' } }],
      },
    },
    {
      name: 'authorizer',
      typed_config: {
        '@type': type('http.ext_authz.v3.ExtAuthz'),
        grpc_service: { envoy_grpc: { cluster_name: 'dns' } },
      },
    },
    {
      name: 'limit',
      typed_config: {
        '@type': type('http.local_ratelimit.v3.LocalRateLimit'),
        token_bucket: { max_tokens: 5, tokens_per_fill: 5, fill_interval: '60s' },
        filter_enabled: percent,
        filter_enforced: percent,
      },
    },
    {
      name: 'global',
      typed_config: {
        '@type': type('http.ratelimit.v3.RateLimit'),
        domain: 'd',
        rate_limit_service: { grpc_service: { envoy_grpc: { cluster_name: 'two' } } },
      },
    },
    {
      name: 'fault',
      typed_config: {
        '@type': type('http.fault.v3.HTTPFault'),
        abort: { http_status: 503, percentage: { numerator: 1 } },
      },
    },
    { name: 'lua', typed_config: { '@type': type('http.lua.v3.Lua') } },
    { name: 'odd' },
  ],
  { maxLength: 4 },
)
const routes = fc.array(
  fc
    .record({
      match: fc.tuple(paths, matches).map(([path, more]) => ({ ...path, ...more })),
      action: actions,
      added: fc.array(headers, { maxLength: 3 }),
      removed: fc.subarray(['x-a', 'x-d']),
      isOff: fc.boolean(),
    })
    .map(({ match, action, added, removed, isOff }) => ({
      ...{ match, ...action, request_headers_to_add: added, response_headers_to_add: added },
      response_headers_to_remove: removed,
      ...(isOff && {
        typed_per_filter_config: {
          lua: { '@type': 'type.googleapis.com/envoy.config.route.v3.FilterConfig', disabled: true },
        },
      }),
    })),
  { minLength: 1, maxLength: 5 },
)
const endpoint = (address: string, port: number) => ({
  endpoint: { address: { socket_address: { address, port_value: port } } },
})
const cluster = (name: string, members: object[], more: object = {}) => ({
  ...{ name, load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: members }] }, ...more },
})
const CLUSTERS = [
  cluster('one', [endpoint('127.0.0.1', 1)], { connect_timeout: '0.25s' }),
  cluster('two', [endpoint('::1', 2), { ...endpoint('127.0.0.1', 3), load_balancing_weight: 7 }]),
  cluster('dns', [endpoint('a.test', 443)], {
    type: 'STRICT_DNS',
    outlier_detection: {},
    transport_socket: {
      typed_config: {
        '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext',
        sni: 'b.test',
      },
    },
  }),
  { name: 'eds', type: 'EDS' },
  {
    name: 'any',
    cluster_type: {
      typed_config: { '@type': 'type.googleapis.com/envoy.extensions.clusters.dynamic_forward_proxy.v3.ClusterConfig' },
    },
  },
]
const files = fc
  .record({
    hosts: fc.array(
      fc.record({
        domains: fc.subarray(['a.test', '*.a.test', '*', 'a.*', '*-b.test', 'c.test:80', 'x y'], { minLength: 1 }),
        routes,
      }),
      { minLength: 1, maxLength: 3 },
    ),
    filters,
  })
  .map(({ hosts, filters: list }) => ({
    static_resources: {
      clusters: CLUSTERS,
      listeners: [
        {
          address: { socket_address: { address: '127.0.0.1', port_value: 8080 } },
          filter_chains: [
            {
              filters: [
                {
                  name: 'http',
                  typed_config: {
                    '@type': type('network.http_connection_manager.v3.HttpConnectionManager'),
                    route_config: { virtual_hosts: hosts },
                    http_filters: [...list, { name: 'envoy.filters.http.router' }],
                  },
                },
              ],
            },
          ],
        },
      ],
    },
  }))

test('any file is imported, or refused with a location; the config has no problems and no secrets', () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 1, arbitrary: fc.jsonValue() }, { weight: 6, arbitrary: files }), (value) => {
      const text = JSON.stringify(value, null, 1)
      const result = importEnvoy([{ name: 'a.yaml', text }])
      if (!result.ok) return assert.ok(result.problem.at.line >= 1 && result.problem.message !== '')
      const { config } = printImport(result.value, ['a.yaml'], 'envoy')
      assert.ok(!config.includes('s3cret') && !JSON.stringify(result.value.report).includes('s3cret'))
      const loaded = loadConfig(config, { file: 'gateway.yaml', dir: '.', env: result.value.behavior.env })
      assert.deepEqual(loaded.ok ? [] : loaded.problems.map(printProblem), [], `${text}\n${config}`)
    }),
    { numRuns: 150 },
  )
})
