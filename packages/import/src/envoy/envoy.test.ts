import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parse } from 'yaml'
import { entryLine } from '../core/report.ts'
import { printImport } from '../core/print-import.ts'
import { importEnvoy } from './import-envoy.ts'

const MANAGER = 'type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager'
const PROXY = 'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy'
const ROUTER = {
  name: 'router',
  typed_config: { '@type': 'type.googleapis.com/envoy.extensions.filters.http.router.v3.Router' },
}

interface ListenerConfig {
  readonly name: string
  readonly protocol?: string
  readonly hostname?: string
  readonly tls?: object
  readonly routes: readonly {
    readonly hostnames?: readonly string[]
    readonly matches?: readonly object[]
    readonly policies?: Readonly<Record<string, object>>
    readonly backends?: readonly object[]
  }[]
}

interface ImportOutcome {
  readonly config: {
    readonly frontend?: object
    readonly binds: readonly { readonly port: number; readonly listeners: readonly ListenerConfig[] }[]
  }
  readonly lines: readonly string[]
}

function imported(bootstrap: object): ImportOutcome {
  const result = importEnvoy([{ name: 'envoy.yaml', text: JSON.stringify(bootstrap, null, 1) }])
  assert.ok(result.ok, result.ok ? '' : result.problem.message)
  const { config } = printImport(result.value, ['envoy.yaml'], 'envoy')
  return { config: parse(config) as ImportOutcome['config'], lines: result.value.report.map(entryLine) }
}

function endpoints(name: string, ...ports: number[]): object {
  const members = ports.map((port) => ({
    endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: port } } },
  }))
  return { name, load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: members }] } }
}

function bootstrap(chains: readonly object[], more: object = {}): object {
  return {
    static_resources: {
      listeners: [
        {
          address: { socket_address: { address: '0.0.0.0', port_value: 8080 } },
          filter_chains: chains,
          ...more,
        },
      ],
      clusters: [endpoints('one', 9000), endpoints('two', 9001, 9002)],
    },
  }
}

function http(routes: readonly object[], more: object = {}): object {
  const table = { virtual_hosts: [{ name: 'all', domains: ['*'], routes }] }
  const config = { '@type': MANAGER, stat_prefix: 'web', route_config: table, http_filters: [ROUTER], ...more }
  return { filters: [{ name: 'http', typed_config: config }] }
}

const ANY = { match: { prefix: '/' }, route: { cluster: 'one' } }

interface RulesOutcome {
  readonly authorization?: object
  readonly directResponse?: { readonly status?: number }
  readonly lines: readonly string[]
}

function firstRoute({ config }: ImportOutcome) {
  return config.binds[0]?.listeners[0]?.routes[0] ?? assert.fail('no route')
}

describe('rules', () => {
  const rules = (principal: object, more: object = {}, policy: object = {}): RulesOutcome => {
    const one = { permissions: [{ any: true }], principals: [principal], ...policy }
    const config = {
      '@type': 'type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC',
      rules: { action: 'ALLOW', policies: { one } },
    }
    const filters = [{ name: 'rbac', typed_config: config }, ROUTER]
    const found = imported(bootstrap([http([ANY], { http_filters: filters, ...more })]))
    return { ...firstRoute(found).policies, lines: found.lines }
  }
  const range = { address_prefix: '10.0.0.0', prefix_len: 8 }

  test('each address of a client is the one that Envoy compares', () => {
    const deny = (address: string) => ({ rules: [{ deny: `!(cidr("10.0.0.0/8").containsIP(${address}))` }] })
    assert.deepEqual(rules({ source_ip: range }).authorization, deny('source.address'))
    assert.deepEqual(rules({ direct_remote_ip: range }).authorization, deny('source.rawAddress'))
    const isDirect = { use_remote_address: true }
    assert.deepEqual(rules({ remote_ip: range }, isDirect).authorization, deny('source.address'))
  })

  test('routes are closed when an address comes from x-forwarded-for', () => {
    for (const more of [
      {},
      { use_remote_address: true, xff_num_trusted_hops: 1 },
      { use_remote_address: true, original_ip_detection_extensions: [{ name: 'a' }] },
    ]) {
      const found = rules({ and_ids: { ids: [{ remote_ip: range }] } }, more)
      assert.equal(found.directResponse?.status, 403)
      assert.ok(
        found.lines.some((line) =>
          /one cannot be expressed, because remote_ip is the address in x-forwarded-for/.test(line),
        ),
      )
    }
  })

  test('routes are closed when a rule has a parsed expression', () => {
    const condition = { call_expr: { function: '_==_' } }
    const found = rules({ any: true }, {}, { condition })
    assert.equal(found.directResponse?.status, 403)
    assert.ok(
      found.lines.some((line) =>
        /\(protection\).*one cannot be expressed, because the condition is a parsed/.test(line),
      ),
    )
  })
})

describe('listeners', () => {
  const context = (name: string, more: object = {}) => ({
    name: 'tls',
    typed_config: {
      '@type': 'type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext',
      common_tls_context: {
        tls_certificates: [
          { certificate_chain: { filename: `${name}.pem` }, private_key: { filename: `${name}.key` } },
        ],
      },
      ...more,
    },
  })

  test('filter chains by server name become HTTPS listeners, and those without TLS are forwarded', () => {
    const { config } = imported(
      bootstrap([
        {
          filter_chain_match: { server_names: ['a.example', '*.b.example'] },
          ...http([ANY]),
          transport_socket: context('one'),
        },
        {
          filter_chain_match: { server_names: ['c.example'] },
          filters: [{ name: 'tcp', typed_config: { '@type': PROXY, stat_prefix: 'c', cluster: 'two' } }],
        },
        { ...http([ANY]), transport_socket: context('rest') },
      ]),
    )
    assert.equal(config.frontend, undefined)
    const listeners = config.binds[0]?.listeners ?? []
    assert.deepEqual(
      listeners.map(({ protocol, hostname, tls }) => [protocol, hostname, tls]),
      [
        ['TLS', undefined, undefined],
        ['HTTPS', 'a.example', { cert: 'one.pem', key: 'one.key' }],
        ['HTTPS', '*.b.example', { cert: 'one.pem', key: 'one.key' }],
        ['HTTPS', undefined, { cert: 'rest.pem', key: 'rest.key' }],
      ],
    )
    assert.deepEqual(listeners[0]?.routes, [
      { hostnames: ['c.example'], backends: [{ host: '127.0.0.1:9001' }, { host: '127.0.0.1:9002' }] },
    ])
  })

  test('parameters of TLS are those of all listeners, if all filter chains have the same', () => {
    const chain = (name: string, parameters: object) => ({
      filter_chain_match: { server_names: [name] },
      ...http([ANY]),
      transport_socket: context('one', {
        common_tls_context: {
          tls_certificates: [{ certificate_chain: { filename: 'one.pem' }, private_key: { filename: 'one.key' } }],
          tls_params: parameters,
        },
      }),
    })
    const strict = {
      tls_minimum_protocol_version: 'TLSv1_3',
      cipher_suites: ['[ECDHE-RSA-AES128-GCM-SHA256|ECDHE-RSA-CHACHA20-POLY1305]', 'AES128-SHA'],
      ecdh_curves: ['X25519', 'P-521'],
    }
    const same = imported(bootstrap([chain('a.example', strict), chain('b.example', strict)]))
    assert.deepEqual(same.config.frontend, {
      tls: {
        minProtocolVersion: '1.3',
        cipherSuites: [
          ...['TLS13_AES_256_GCM_SHA384', 'TLS13_AES_128_GCM_SHA256', 'TLS13_CHACHA20_POLY1305_SHA256'],
          ...['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256', 'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256'],
        ],
        keyExchangeGroups: ['X25519'],
      },
    })
    const different = imported(bootstrap([chain('a.example', strict), chain('b.example', {})]))
    assert.equal(different.config.frontend, undefined)
    const lost = different.lines.filter((line) => line.includes('not carried (protection)'))
    assert.ok(
      ['tls_minimum_protocol_version', 'cipher_suites'].every((name) => lost.some((line) => line.includes(name))),
    )
  })

  test('client certificates are required, or accepted, and other names get 403', () => {
    const socket = (isRequired: boolean) =>
      context('one', {
        require_client_certificate: isRequired,
        common_tls_context: {
          tls_certificates: [{ certificate_chain: { filename: 'one.pem' }, private_key: { filename: 'one.key' } }],
          validation_context: {
            trusted_ca: { filename: 'ca.pem' },
            match_typed_subject_alt_names: [{ san_type: 'URI', matcher: { prefix: 'spiffe://shop/' } }],
          },
        },
      })
    const found = imported(bootstrap([{ ...http([ANY]), transport_socket: socket(true) }]))
    assert.deepEqual(found.config.binds[0]?.listeners[0]?.tls, { cert: 'one.pem', key: 'one.key', root: 'ca.pem' })
    assert.deepEqual(firstRoute(found).policies?.['authorization'], {
      rules: [
        {
          deny: '!(has(source.certificate) && (source.certificate.subjectAltNames.exists(each, each.matches("^(?:spiffe://shop/.*)$"))))',
        },
      ],
    })
    const optional = imported(bootstrap([{ ...http([ANY]), transport_socket: socket(false) }]))
    assert.deepEqual(optional.config.binds[0]?.listeners[0]?.tls, {
      ...{ cert: 'one.pem', key: 'one.key', root: 'ca.pem', clientCertificates: 'Request' },
    })
  })

  test('a revocation list that cannot be carried closes the listener', () => {
    const validation = { trusted_ca: { filename: 'ca.pem' }, crl: { filename: 'crl.pem' } }
    const found = imported(
      bootstrap([
        {
          ...http([ANY]),
          transport_socket: context('one', {
            require_client_certificate: true,
            common_tls_context: { tls_certificates: [], validation_context: validation },
          }),
        },
      ]),
    )
    assert.deepEqual(firstRoute(found).policies?.['authorization'], { rules: [{ deny: 'true' }] })
    assert.ok(found.lines.some((line) => line.includes('not carried (protection)') && line.includes('.crl')))
  })

  test('the PROXY protocol of all listeners is carried', () => {
    const { config } = imported(
      bootstrap([http([ANY])], { listener_filters: [{ name: 'envoy.filters.listener.proxy_protocol' }] }),
    )
    assert.deepEqual(config.frontend, { proxyProtocol: { version: 'All' } })
  })

  test('a network filter that may protect closes an HTTP port, and cuts TCP connections', () => {
    const guard = {
      name: 'authorizer',
      typed_config: { '@type': 'type.googleapis.com/envoy.extensions.filters.network.ext_authz.v3.ExtAuthz' },
    }
    const manager = http([ANY]) as { filters: object[] }
    const closed = imported(bootstrap([{ filters: [guard, ...manager.filters] }]))
    const reply = firstRoute(closed).policies?.['directResponse'] as { status: number } | undefined
    assert.equal(reply?.status, 403)
    const proxy = { name: 'tcp', typed_config: { '@type': PROXY, stat_prefix: 'tcp', cluster: 'one' } }
    const cut = imported(bootstrap([{ filters: [guard, proxy] }]))
    assert.deepEqual(cut.config.binds[0]?.listeners[0]?.routes, [{}])
    assert.ok(
      cut.lines.some((line) => line.includes('connections of this proxy are closed until you configure a replacement')),
    )
  })
})

describe('routes', () => {
  test('names in camel case mean the same', () => {
    const snake = bootstrap([
      http([
        {
          match: { path_separated_prefix: '/a', case_sensitive: false },
          route: { cluster: 'two', prefix_rewrite: '/b' },
        },
      ]),
    ])
    const camel = JSON.parse(
      JSON.stringify(snake).replaceAll(/"([a-z]+_[a-z_]+)":/g, (_all, name: string) => {
        return `"${name.replaceAll(/_([a-z])/g, (_sign, letter: string) => letter.toUpperCase())}":`
      }),
    ) as object
    assert.deepEqual(imported(camel).config, imported(snake).config)
  })

  test('an inverted header needs the header, and a missing one fits nothing', () => {
    const header = { name: 'x-a', string_match: { exact: 'one' }, invert_match: true }
    const found = imported(
      bootstrap([http([{ match: { prefix: '/', headers: [header] }, route: { cluster: 'two' } }, ANY])]),
    )
    const routes = found.config.binds[0]?.listeners[0]?.routes ?? []
    const heads = routes.map(({ matches, backends }) => [JSON.stringify(matches), backends?.length])
    // Requests with the header value `one` go to the next route, requests with another value get this route, and
    // requests without the header go to the next route.
    assert.match(String(heads[0]?.[0]), /"exact":"one"/)
    assert.deepEqual(
      heads.map(([, count]) => count),
      [1, 2, 1],
    )
    assert.match(String(heads[1]?.[0]), /"regex":"\.\*"/)
    assert.equal(heads[2]?.[0], undefined)
  })

  test('shares of clusters hold for each of their endpoints', () => {
    const clusters = [
      { name: 'one', weight: 50 },
      { name: 'two', weight: 50 },
    ]
    const found = imported(bootstrap([http([{ match: { prefix: '/' }, route: { weighted_clusters: { clusters } } }])]))
    assert.deepEqual(
      firstRoute(found).backends?.map((backend) => [
        (backend as { host: string }).host,
        (backend as { weight?: number }).weight,
      ]),
      [
        ['127.0.0.1:9000', 2],
        ['127.0.0.1:9001', undefined],
        ['127.0.0.1:9002', undefined],
      ],
    )
  })

  test('a virtual host that only accepts TLS redirects', () => {
    const host = { name: 'all', domains: ['*'], require_tls: 'ALL', routes: [ANY] }
    const found = imported(bootstrap([http([], { route_config: { virtual_hosts: [host] } })]))
    assert.deepEqual(firstRoute(found).policies, { requestRedirect: { scheme: 'https', status: 301 } })
  })

  test('redirects with a new prefix, a pattern or without the query have a computed address', () => {
    const locations = (redirect: object, match: object = { prefix: '/old/' }): object | undefined => {
      const { transformation, directResponse } =
        firstRoute(imported(bootstrap([http([{ match, redirect }])]))).policies ?? {}
      const { response } = (transformation ?? {}) as { response?: { set: readonly { value: string }[] } }
      return response === undefined ? undefined : [response.set[0]?.value, directResponse]
    }
    assert.deepEqual(locations({ prefix_rewrite: '/new/', response_code: 'FOUND' }), [
      'request.scheme + "://" + request.host + "/new/" + request.pathAndQuery.substring(5)',
      { status: 302 },
    ])
    assert.deepEqual(locations({ https_redirect: true, port_redirect: 8443, strip_query: true }), [
      '"https://" + request.host.regexReplace(":[0-9]+$", "") + ":8443" + request.path',
      { status: 301 },
    ])
    assert.deepEqual(locations({ path_redirect: '/new?a=1', host_redirect: 'b.example' }), [
      'request.scheme + "://" + "b.example" + "/new?a=1"',
      { status: 301 },
    ])
    assert.equal(locations({ path_redirect: '/new' }), undefined)
  })

  test('upgrades of a route are those of the connection manager with its own changes', () => {
    const upgrades = (own: readonly object[], all: readonly object[]): unknown => {
      const route = { match: { prefix: '/' }, route: { cluster: 'one', upgrade_configs: own } }
      return firstRoute(imported(bootstrap([http([route], { upgrade_configs: all })]))).policies?.['upgrades']
    }
    const [websocket, other] = [{ upgrade_type: 'websocket' }, { upgrade_type: 'Other' }]
    assert.equal(upgrades([], [websocket]), undefined)
    assert.deepEqual(upgrades([other], [websocket]), { protocols: ['websocket', 'other'] })
    assert.deepEqual(upgrades([{ ...websocket, enabled: false }], [websocket, other]), { protocols: ['other'] })
    assert.deepEqual(upgrades([{ upgrade_type: 'CONNECT', connect_config: {} }], []), { protocols: [] })
  })

  test('headers of later levels win, unless the table says otherwise', () => {
    const header = (value: string) => ({
      request_headers_to_add: [{ header: { key: 'x-level', value }, append_action: 'OVERWRITE_IF_EXISTS_OR_ADD' }],
    })
    for (const [isSpecific, expected] of [
      [false, '"table"'],
      [true, '"route"'],
    ] as const) {
      const host = { name: 'all', domains: ['*'], routes: [{ ...ANY, ...header('route') }] }
      const table = { virtual_hosts: [host], ...header('table'), most_specific_header_mutations_wins: isSpecific }
      const found = imported(bootstrap([http([], { route_config: table })]))
      assert.deepEqual(firstRoute(found).policies?.['transformation'], {
        request: { set: [{ name: 'x-level', value: expected }] },
      })
    }
  })

  test('a value with unknown commands is not carried, and the header of the client is removed', () => {
    const option = { header: { key: 'x-cert', value: '%DOWNSTREAM_PEER_CERT%' }, append_action: 'OVERWRITE_IF_EXISTS' }
    const found = imported(bootstrap([http([{ ...ANY, request_headers_to_add: [option] }])]))
    assert.deepEqual(firstRoute(found).policies?.['transformation'], {
      request: { set: [{ name: 'x-cert', value: '[]' }] },
    })
    assert.ok(found.lines.some((line) => line.includes('not carried (protection)') && line.includes('headers_to_add')))
  })
})

describe('sources', () => {
  test('a source without listeners is refused with its location', () => {
    for (const [text, said] of [
      ['{}', /found no listener that can be imported/],
      ['[]', /found no mapping/],
      ['static_resources: [', /broken YAML/],
      ['static_resources: { listeners: [{ address: { pipe: { path: /a } } }] }', /found no listener/],
    ] as const) {
      const result = importEnvoy([{ name: 'a.yaml', text }])
      assert.ok(!result.ok)
      assert.match(result.problem.message, said)
      assert.equal(result.problem.at.file, 'a.yaml')
    }
  })

  test('resources of a control plane are reported', () => {
    const { lines } = imported({ ...bootstrap([http([ANY])]), dynamic_resources: { ads_config: {} }, admin: {} })
    assert.ok(
      lines.some((line) => line.includes('not carried: dynamic_resources: the resources come from a control plane')),
    )
    assert.ok(
      lines.some((line) => line.includes('not carried: admin: the gateway has an admin API: docs/admin-api.md')),
    )
  })

  test('a field that the importer does not know is reported with its line', () => {
    const { lines } = imported(bootstrap([http([{ ...ANY, brand_new: 1 }])]))
    assert.ok(
      lines.some((line) => /^envoy\.yaml:\d+:\d+: not carried: .*brand_new: the importer does not know/.test(line)),
    )
  })
})

test('an authorizer over HTTP gets the headers of both lists of allowed headers', () => {
  const exact = (name: string) => ({ patterns: [{ exact: name }] })
  const config = {
    '@type': 'type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz',
    allowed_headers: exact('X-Request-Id'),
    http_service: {
      server_uri: { uri: 'http://auth.test', cluster: 'two', timeout: '1s' },
      authorization_request: { allowed_headers: exact('cookie') },
    },
  }
  const found = imported(
    bootstrap([http([ANY], { http_filters: [{ name: 'ext_authz', typed_config: config }, ROUTER] })]),
  )
  const authorizer = firstRoute(found).policies?.['extAuth'] as { http: object }
  assert.deepEqual(authorizer.http, { allowedRequestHeaders: ['authorization', 'cookie', 'x-request-id'] })
  assert.ok(!found.lines.some((line) => line.includes('not carried') && line.includes('allowed_headers')))
})
