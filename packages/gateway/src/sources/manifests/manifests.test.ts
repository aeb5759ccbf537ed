import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttps } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { NO, useAuthorizer } from '../../testing/services/authorizer.ts'
import { createAuthority, type IssuedCertificate } from '../../testing/certificates.ts'
import { request } from '../../testing/client.ts'
import { TestGateway } from '../../testing/gateway.ts'
import { closedPort, until, useOrigin, useTcpServer } from '../../testing/scene.ts'
import { openTls, requestTls } from '../../testing/tls-client.ts'
import type { LoadResult } from '../file.ts'
import { loadManifests } from './manifests.ts'
import { printProblems } from '../print-problems.ts'

const GROUP = 'gateway.networking.k8s.io'

function resource(kind: string, name: string, spec: object, more: object = {}): object {
  return { apiVersion: `${GROUP}/v1`, kind, metadata: { name, ...more }, spec }
}

const gatewayOf = (...listeners: object[]) => resource('Gateway', 'web', { gatewayClassName: 'portico', listeners })
const HTTP = gatewayOf({ name: 'http', port: 80, protocol: 'HTTP' })

const routeOf = (...rules: object[]) => resource('HTTPRoute', 'app', { parentRefs: [{ name: 'web' }], rules })

/** A Service with one address on loopback. */
function serviceAt(name: string, port: number, appProtocol?: string): object[] {
  const ports = [{ port: 80, ...(appProtocol !== undefined && { appProtocol }) }]
  return [
    { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { ports } },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, labels: { 'kubernetes.io/service-name': name } },
      addressType: 'IPv4',
      ports: [{ port }],
      endpoints: [{ addresses: ['127.0.0.1'] }],
    },
  ]
}

function secretOf(name: string, { cert, key }: IssuedCertificate): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { 'tls.crt': cert, 'tls.key': key } }
}

const to = (name: string, more: object = {}) => ({ name, port: 80, ...more })
const at = (path: string) => [{ path: { value: path } }]

async function load(t: TestContext, text: string): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'all.yaml'), text)
  return loadManifests(folder, { gateway: null, env: {} })
}

/** The problems or warnings of loading. */
async function told(t: TestContext, resources: object[]): Promise<string> {
  const loaded = await load(t, resources.map((each) => JSON.stringify(each)).join('\n---\n'))
  return printProblems(loaded.ok ? loaded.warnings : loaded.problems)
}

/** A gateway in this thread, on free ports, that runs these resources. */
async function useManifests(t: TestContext, resources: object[], random?: () => number): Promise<TestGateway> {
  const loaded = await load(t, resources.map((each) => JSON.stringify(each)).join('\n---\n'))
  if (!loaded.ok) return assert.fail(printProblems(loaded.problems))
  const gateway = new TestGateway(random === undefined ? {} : { random })
  t.after(() => gateway.close())
  gateway.setEndpoints({ put: Object.entries(loaded.endpoints ?? {}), drop: [] })
  await gateway.use({ ...loaded.ir, binds: loaded.ir.binds.map((bind) => ({ ...bind, port: 0 })) })
  return gateway
}

describe('a file of manifests that cannot be read', () => {
  const refused = async (t: TestContext, text: string): Promise<string> => {
    const loaded = await load(t, text)
    return loaded.ok ? assert.fail('it was taken') : printProblems(loaded.problems)
  }

  test('because of an alias without its anchor', async (t) => {
    const text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: *other }\n'
    assert.match(await refused(t, text), /all\.yaml:3:19: found the alias `\*other` without an anchor before it/)
  })

  test('because of aliases that multiply', async (t) => {
    const lines = ['a0: &a0 [x, x]']
    for (let i = 1; i < 20; i++) lines.push(`a${i}: &a${i} [*a${i - 1}, *a${i - 1}]`)
    assert.match(await refused(t, lines.join('\n')), /all\.yaml:1:1: found broken YAML \(Excessive alias count/)
  })
})

describe('a folder of manifests', () => {
  const gateway = (name: string) =>
    JSON.stringify(resource('Gateway', name, { gatewayClassName: 'portico', listeners: [] }))

  function useFolder(t: TestContext): string {
    const folder = mkdtempSync(join(tmpdir(), 'portico-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    return folder
  }

  test('may be a ConfigMap that a kubelet mounted, also while it changes', async (t) => {
    const folder = useFolder(t)
    for (const [version, name] of [
      ['..2026_01', 'old'],
      ['..2026_02', 'web'],
    ] as const) {
      mkdirSync(join(folder, version))
      writeFileSync(join(folder, version, 'all.yaml'), gateway(name))
    }
    symlinkSync('..2026_02', join(folder, '..data'))
    symlinkSync('..data/all.yaml', join(folder, 'all.yaml'))
    const loaded = await loadManifests(folder, { gateway: null, env: {} })
    assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
    assert.equal(loaded.gateway, 'default/web')
    assert.deepEqual(loaded.files, [join(folder, 'all.yaml')])
  })

  test('may have links to other folders, also to itself', async (t) => {
    const [folder, elsewhere] = [useFolder(t), useFolder(t)]
    writeFileSync(join(elsewhere, 'all.yaml'), gateway('web'))
    symlinkSync(elsewhere, join(folder, 'shared'))
    symlinkSync(folder, join(elsewhere, 'back'))
    const loaded = await loadManifests(folder, { gateway: null, env: {} })
    assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
    assert.deepEqual(loaded.files, [join(folder, 'shared', 'all.yaml')])
  })

  test('says which file cannot be read', async (t) => {
    const folder = useFolder(t)
    writeFileSync(join(folder, 'all.yaml'), gateway('web'))
    symlinkSync('nowhere', join(folder, 'gone.yaml'))
    const loaded = await loadManifests(folder, { gateway: null, env: {} })
    assert.ok(!loaded.ok)
    assert.match(printProblems(loaded.problems), /gone\.yaml:1:1: found a file that cannot be read \(ENOENT/)
  })
})

describe('resources of the Gateway API do what they say', () => {
  test('weights, and the headers of one backend alone', async (t) => {
    const [one, other] = [await useOrigin(t), await useOrigin(t)]
    let next = 0
    const filters = [
      { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x-side', value: 'a "b"' }] } },
    ]
    const rule = { backendRefs: [to('one', { weight: 9, filters }), to('other', { weight: 1 })] }
    const resources = [HTTP, routeOf(rule), ...serviceAt('one', one.port), ...serviceAt('other', other.port)]
    const gateway = await useManifests(t, resources, () => next)
    for (next of [0, 0.89, 0.91]) assert.equal((await request(gateway.port())).status, 200)
    assert.deepEqual([one.seen.length, other.seen.length], [2, 1])
    assert.deepEqual([one.seen[0]?.headers['x-side'], other.seen[0]?.headers['x-side']], ['a "b"', undefined])
  })

  test('redirects and rewrites', async (t) => {
    const origin = await useOrigin(t)
    const redirect = (requestRedirect: object) => [{ type: 'RequestRedirect', requestRedirect }]
    const rules = [
      { matches: at('/secure'), filters: redirect({ scheme: 'https', statusCode: 301 }) },
      { matches: at('/port'), filters: redirect({ port: 8443 }) },
      {
        matches: at('/old'),
        filters: redirect({
          hostname: 'example.org',
          path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/new' },
        }),
      },
      {
        matches: at('/prefix'),
        filters: [
          {
            type: 'URLRewrite',
            urlRewrite: { hostname: 'inside.test', path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
          },
        ],
        backendRefs: [to('app')],
      },
    ]
    const gateway = await useManifests(t, [HTTP, routeOf(...rules), ...serviceAt('app', origin.port)])
    const goesTo = async (path: string) => {
      const { status, headers } = await request(gateway.port(), { path, headers: { host: 'shop.test:8080' } })
      return [status, headers['location']]
    }
    assert.deepEqual(await goesTo('/secure/a?b'), [301, 'https://shop.test/secure/a?b'])
    assert.deepEqual(await goesTo('/port'), [302, 'http://shop.test:8443/port'])
    assert.deepEqual(await goesTo('/old/a'), [302, 'http://example.org:8080/new/a'])
    assert.deepEqual(await goesTo('/prefix/a'), [200, undefined])
    assert.deepEqual([origin.seen[0]?.url, origin.seen[0]?.headers['host']], ['/a', 'inside.test'])
  })

  test('mirrors, all of them', async (t) => {
    const [origin, ...mirrors] = [await useOrigin(t), await useOrigin(t), await useOrigin(t)] as const
    const mirror = (name: string) => ({ type: 'RequestMirror', requestMirror: { backendRef: to(name) } })
    const rule = { filters: [mirror('m0'), mirror('gone')], backendRefs: [to('app', { filters: [mirror('m1')] })] }
    const services = mirrors.flatMap(({ port }, index) => serviceAt(`m${index}`, port))
    const gateway = await useManifests(t, [HTTP, routeOf(rule), ...services, ...serviceAt('app', origin.port)])
    assert.equal((await request(gateway.port(), { method: 'POST', body: 'hello' })).status, 200)
    await until(() => mirrors.every(({ seen }) => seen.length === 1))
    assert.deepEqual(
      mirrors.map(({ seen }) => seen[0]?.body),
      ['hello', 'hello'],
    )
  })

  test('a listener keeps to its own hostname and routes', async (t) => {
    const origin = await useOrigin(t)
    const listeners = ['', '*.example.com', 'a.example.com'].map((hostname, index) => ({
      name: `l${index}`,
      port: 80,
      protocol: 'HTTP',
      ...(hostname !== '' && { hostname }),
    }))
    const routes = listeners.map(({ name }) =>
      resource('HTTPRoute', name, {
        parentRefs: [{ name: 'web', sectionName: name }],
        rules: [
          {
            matches: at(`/${name}`),
            filters: [
              { type: 'RequestHeaderModifier', requestHeaderModifier: { set: [{ name: 'x-by', value: name }] } },
            ],
            backendRefs: [to('app')],
          },
        ],
      }),
    )
    const gateway = await useManifests(t, [gatewayOf(...listeners), ...routes, ...serviceAt('app', origin.port)])
    const ask = async (host: string, path: string) =>
      (await request(gateway.port(), { path, headers: { host } })).status
    for (const [host, own] of [
      ['b.test', 'l0'],
      ['b.example.com', 'l1'],
      ['a.example.com', 'l2'],
    ] as const) {
      for (const { name } of listeners)
        assert.equal(await ask(host, `/${name}`), name === own ? 200 : 404, `${host} ${name}`)
    }
  })

  test('TLS to backends, by a BackendTLSPolicy', async (t) => {
    const authority = createAuthority()
    const { cert, key } = authority.issue({ names: ['inside.test'] })
    const server = createHttps({ cert, key }, (_request, response) => response.end('secret place'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const policy = (name: string, hostname: string) =>
      resource('BackendTLSPolicy', name, {
        targetRefs: [{ group: '', kind: 'Service', name }],
        validation: { hostname, caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'authorities' }] },
      })
    const gateway = await useManifests(t, [
      HTTP,
      routeOf({ matches: at('/good'), backendRefs: [to('good')] }, { matches: at('/bad'), backendRefs: [to('bad')] }),
      ...serviceAt('good', port),
      ...serviceAt('bad', port),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'authorities' }, data: { 'ca.crt': authority.cert } },
      policy('good', 'inside.test'),
      policy('bad', 'elsewhere.test'),
    ])
    const { status, body } = await request(gateway.port(), { path: '/good' })
    assert.deepEqual([status, body], [200, 'secret place'])
    assert.equal((await request(gateway.port(), { path: '/bad' })).status, 503)
  })

  test('a retry budget and sessions, by an XBackendTrafficPolicy', async (t) => {
    const origin = await useOrigin(t, ({ url }, response) => response.writeHead(url === '/bad' ? 500 : 200).end())
    const policy = {
      ...resource('XBackendTrafficPolicy', 'orders', {
        targetRefs: [{ group: '', kind: 'Service', name: 'orders' }],
        retryConstraint: { budget: { percent: 0 }, minRetryRate: { count: 1, interval: '1h' } },
        sessionPersistence: { cookie: { name: 'shop' } },
      }),
      apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    }
    const retry = { attempts: 3, codes: [500] }
    const gateway = await useManifests(t, [
      HTTP,
      routeOf({ retry, backendRefs: [to('orders')] }),
      ...serviceAt('orders', origin.port),
      policy,
    ])
    const good = await request(gateway.port(), { path: '/good' })
    assert.match(good.headers['set-cookie'] ?? '', /^shop=[\w-]+; Path=\/; HttpOnly; SameSite=Lax$/)
    const bad = await request(gateway.port(), { path: '/bad' })
    assert.deepEqual([bad.status, bad.body], [503, 'upstream retry budget exhausted'])
    assert.equal(origin.seen.filter(({ url }) => url === '/bad').length, 2, 'one retry is within the minimum')
  })

  test('spans by an XTelemetryPolicy, over HTTP to the Service that it names', async (t) => {
    const collector = await useOrigin(t)
    const origin = await useOrigin(t)
    const policy = {
      ...resource('XTelemetryPolicy', 'traces', {
        targetRefs: [{ group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'web' }],
        tracing: {
          mode: 'Enabled',
          provider: {
            backendRef: { name: 'collector', port: 4318 },
            headers: [{ name: 'x-api-key', value: 'of-the-shop' }],
          },
          attributes: [{ name: 'team', sourceType: 'Literal', literalValue: 'cart-people' }],
        },
      }),
      apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    }
    const gateway = await useManifests(t, [
      HTTP,
      routeOf({ backendRefs: [to('orders')] }),
      ...serviceAt('orders', origin.port),
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'collector' }, spec: { ports: [{ port: 4318 }] } },
      ...serviceAt('collector', collector.port).slice(1),
      policy,
    ])
    assert.equal((await request(gateway.port(), {})).status, 200)
    await until(() => collector.seen.some(({ url }) => url === '/v1/traces'))
    const [sent] = collector.seen
    assert.equal(sent?.headers['x-api-key'], 'of-the-shop')
    assert.match(sent?.body ?? '', /cart-people/)
  })

  test('Pods of an XBackend, with its TLS and its sessions', async (t) => {
    const authority = createAuthority()
    const identity = authority.issue({ names: ['inside.test'] })
    const server = createHttps(identity, (_request, response) => response.end('from the Pod'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const backend = (name: string, hostname: string) => ({
      ...resource('XBackend', name, {
        type: 'EndpointSelector',
        endpointSelector: { matchLabels: { app: 'orders' } },
        port: { number: port },
        sessionPersistence: { cookie: { name } },
        tls: {
          mode: 'ServerOnly',
          validation: { hostname, caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'authorities' }] },
        },
      }),
      apiVersion: 'gateway.networking.x-k8s.io/v1alpha1',
    })
    const ref = (name: string) => ({ group: 'gateway.networking.x-k8s.io', kind: 'XBackend', name })
    const at = (value: string) => [{ path: { value } }]
    const gateway = await useManifests(t, [
      HTTP,
      routeOf({ matches: at('/good'), backendRefs: [ref('good')] }, { matches: at('/bad'), backendRefs: [ref('bad')] }),
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'authorities' }, data: { 'ca.crt': authority.cert } },
      {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'orders-1', labels: { app: 'orders' } },
        status: { podIP: '127.0.0.1', conditions: [{ type: 'Ready', status: 'True' }] },
      },
      backend('good', 'inside.test'),
      backend('bad', 'elsewhere.test'),
    ])
    const { status, body, headers } = await request(gateway.port(), { path: '/good' })
    assert.deepEqual([status, body], [200, 'from the Pod'])
    assert.match(headers['set-cookie'] ?? '', /^good=/)
    assert.equal((await request(gateway.port(), { path: '/bad' })).status, 503)
  })

  test('a broken certificate closes the backends that it is for, and no others', async (t) => {
    const authority = createAuthority()
    const origin = await useOrigin(t)
    const server = createHttps(authority.issue({ names: ['inside.test'] }), (_request, response) => response.end('ok'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const broken = authority.cert.replace(/\n.{20}/, `\n${'A'.repeat(20)}`)
    const own = authority.issue({ names: ['client.test'] })
    const authorities = (name: string, pem: string) => ({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name },
      data: { 'ca.crt': pem },
    })
    const backend = (name: string, tls: object) => ({
      ...resource('GwBackend', name, {
        static: { host: '127.0.0.1', port },
        policies: { tls: { sni: 'inside.test', verifySubjectAltNames: ['inside.test'], ...tls } },
      }),
      apiVersion: 'portico.dev/v1alpha1',
    })
    const policy = {
      ...resource('GwPolicy', 'policy', {
        targetRefs: [{ group: '', kind: 'Service', name: 'closed' }],
        backend: { tls: { caCertificateRefs: [{ name: 'broken' }] } },
      }),
      apiVersion: 'portico.dev/v1alpha1',
    }
    const ownRule = (name: string) => ({
      matches: at(`/${name}`),
      backendRefs: [{ group: 'portico.dev', kind: 'GwBackend', name }],
    })
    const resources = [
      HTTP,
      routeOf(
        ...['good', 'broken', 'chain'].map(ownRule),
        { matches: at('/plain'), backendRefs: [to('plain')] },
        { matches: at('/closed'), backendRefs: [to('closed')] },
      ),
      ...serviceAt('plain', origin.port),
      ...serviceAt('closed', port),
      authorities('good', authority.cert),
      authorities('broken', `${authority.cert}\n${broken}`),
      secretOf('own', own),
      secretOf('chain', { ...own, cert: `${own.cert}\n${broken}` }),
      backend('good', { caCertificateRefs: [{ name: 'good' }], mtlsCertificateRef: [{ name: 'own' }] }),
      backend('broken', { caCertificateRefs: [{ name: 'broken' }] }),
      backend('chain', { mtlsCertificateRef: [{ name: 'chain' }] }),
      policy,
    ]
    const gateway = await useManifests(t, resources)
    const ask = async (path: string) => (await request(gateway.port(), { path })).status
    assert.equal(await ask('/good'), 200)
    assert.equal(await ask('/plain'), 200)
    assert.equal(await ask('/broken'), 500)
    assert.equal(await ask('/chain'), 500)
    assert.equal(await ask('/closed'), 403)
    const text = await told(t, resources)
    assert.match(text, /GwBackend default\/broken .*ConfigMap `broken`: a certificate cannot be read/)
    assert.match(text, /GwBackend default\/chain .*Secret `chain`: TLS rejects the certificate, or one of its chain/)
    assert.match(text, /GwPolicy default\/policy .*ConfigMap `broken`: a certificate cannot be read/)
  })

  test('TLS that passes, TLS that ends here, and HTTPS, on one port', async (t) => {
    const authority = createAuthority()
    const own = authority.issue({ names: ['inside.test'] })
    const shown = authority.issue({ names: ['end.test', 'www.test'] })
    const passed = createHttps(own, (_request, response) => response.end('passed'))
    passed.listen(0, '127.0.0.1')
    await once(passed, 'listening')
    t.after(() => passed.close())
    const raw = await useTcpServer(t, (socket) => socket.end('raw'))
    const origin = await useOrigin(t)
    const tls = { certificateRefs: [{ name: 'shown' }] }
    const l4 = (name: string) =>
      resource('TLSRoute', name, {
        parentRefs: [{ name: 'web' }],
        hostnames: [`${name}.test`],
        rules: [{ backendRefs: [to(name)] }],
      })
    const gateway = await useManifests(t, [
      gatewayOf(
        { name: 'pass', port: 443, protocol: 'TLS', hostname: 'pass.test', tls: { mode: 'Passthrough' } },
        { name: 'end', port: 443, protocol: 'TLS', hostname: 'end.test', tls: { mode: 'Terminate', ...tls } },
        { name: 'www', port: 443, protocol: 'HTTPS', hostname: 'www.test', tls },
      ),
      secretOf('shown', shown),
      l4('pass'),
      l4('end'),
      routeOf({ backendRefs: [to('app')] }),
      ...serviceAt('pass', (passed.address() as AddressInfo).port),
      ...serviceAt('end', raw.port),
      ...serviceAt('app', origin.port),
    ])
    const ask = (servername: string) =>
      requestTls(gateway.port(), { servername, ca: authority.cert, checkServerIdentity: () => undefined })
    assert.equal((await ask('pass.test')).body, 'passed')
    assert.equal((await ask('www.test')).body, 'ok')
    const socket = await openTls(gateway.port(), { servername: 'end.test', ca: authority.cert })
    let text = ''
    for await (const chunk of socket) text += (chunk as Buffer).toString()
    assert.equal(text, 'raw')
  })

  test('the first rule of a TCPRoute serves, and the others are said not to', async (t) => {
    const [first, second] = await Promise.all(
      ['first', 'second'].map((name) => useTcpServer(t, (socket) => socket.end(name))),
    )
    const route = resource('TCPRoute', 'raw', {
      parentRefs: [{ name: 'web' }],
      rules: [{ backendRefs: [to('first')] }, { backendRefs: [to('second')] }],
    })
    const resources = [
      gatewayOf({ name: 'raw', port: 5432, protocol: 'TCP' }),
      { ...route, apiVersion: `${GROUP}/v1alpha2` },
      ...serviceAt('first', first?.port ?? 0),
      ...serviceAt('second', second?.port ?? 0),
    ]
    const gateway = await useManifests(t, resources)
    let text = ''
    for await (const chunk of connect(gateway.port(), '127.0.0.1')) text += (chunk as Buffer).toString()
    assert.equal(text, 'first')
    assert.match(
      await told(t, resources),
      /TCPRoute default\/raw not as it should be: PartiallyInvalid .*rules\[1\]: is not served/,
    )
  })

  test('an authorizer is asked, over HTTP and over gRPC, and without it nobody passes', async (t) => {
    const origin = await useOrigin(t)
    const plain = await useOrigin(t, ({ headers }, response) => {
      if (headers['authorization'] !== 'Bearer good') return response.writeHead(401).end('who are you?')
      return response.writeHead(200, { 'x-user': 'ann', 'x-other': 'kept here' }).end()
    })
    const grpc = await useAuthorizer(t, ({ attributes }) =>
      attributes?.request?.http?.headers.get('x-pass') === undefined ? NO : {},
    )
    const ask = (externalAuth: object) => [{ type: 'ExternalAuth', externalAuth }]
    const overHttp = (name: string) => ({
      protocol: 'HTTP',
      backendRef: to(name),
      http: { path: '/check', allowedHeaders: ['x-more'], allowedResponseHeaders: ['x-user'] },
    })
    const overGrpc = { protocol: 'GRPC', backendRef: to('grpc'), grpc: {} }
    const redirect = { type: 'RequestRedirect', requestRedirect: { hostname: 'example.org' } }
    const gateway = await useManifests(t, [
      HTTP,
      routeOf(
        { matches: at('/http'), filters: ask(overHttp('plain')), backendRefs: [to('app')] },
        { matches: at('/grpc'), filters: ask(overGrpc), backendRefs: [to('app')] },
        { matches: at('/down'), filters: ask(overHttp('down')), backendRefs: [to('app')] },
        { matches: at('/gone'), filters: ask(overHttp('gone')), backendRefs: [to('app')] },
        { matches: at('/away'), filters: [redirect, ...ask(overHttp('gone'))] },
      ),
      ...serviceAt('app', origin.port),
      ...serviceAt('plain', plain.port),
      ...serviceAt('grpc', Number(grpc.host.split(':').at(-1))),
      ...serviceAt('down', await closedPort()),
    ])
    const get = (path: string, headers: Record<string, string> = {}) => request(gateway.port(), { path, headers })
    const refused = await get('/http')
    assert.deepEqual([refused.status, refused.body], [401, 'who are you?'])
    const headers = { host: 'shop.test', authorization: 'Bearer good', 'x-more': '1', 'x-less': '1', 'x-user': 'eve' }
    assert.equal((await get('/http/a?b=c', headers)).status, 200)
    const asked = plain.seen[1]
    assert.deepEqual(
      [asked?.url, ...['x-forwarded-host', 'x-more', 'x-less'].map((name) => asked?.headers[name])],
      ['/check/http/a?b=c', 'shop.test', '1', undefined],
    )
    const passed = origin.seen[0]?.headers
    assert.deepEqual([passed?.['x-user'], passed?.['x-other']], ['ann', undefined])
    assert.equal((await get('/grpc')).status, 403)
    assert.equal((await get('/grpc', { 'x-pass': '1' })).status, 200)
    assert.equal((await get('/down', headers)).status, 403)
    assert.equal((await get('/gone', headers)).status, 500)
    assert.equal((await get('/away', headers)).status, 500)
    assert.equal(origin.seen.length, 2)
    await gateway.finished(7)
    assert.equal(gateway.records[5]?.error, 'Service default/gone not found')
  })

  test('a filter of a listener authorizes requests before they are routed', async (t) => {
    const origin = await useOrigin(t)
    const authorizer = await useAuthorizer(t, ({ attributes }) =>
      attributes?.request?.http?.headers.get('x-pass') === undefined ? NO : {},
    )
    const listener = (name: string, service: string | null) => {
      const externalAuth = { protocol: 'GRPC', backendRef: to(service ?? ''), grpc: { allowedHeaders: ['X-Pass'] } }
      const filters = service === null ? {} : { filters: { requests: [{ type: 'ExternalAuth', externalAuth }] } }
      return { name, port: 80, protocol: 'HTTP', hostname: `${name}.test`, ...filters }
    }
    const gateway = await useManifests(t, [
      gatewayOf(listener('guarded', 'authorizer'), listener('closed', 'gone'), listener('open', null)),
      routeOf({ matches: at('/app'), backendRefs: [to('app')] }),
      ...serviceAt('app', origin.port),
      ...serviceAt('authorizer', Number(authorizer.host.split(':').at(-1))),
    ])
    const ask = async (name: string, path: string, headers: Record<string, string> = {}): Promise<number> =>
      (await request(gateway.port(), { path, headers: { host: `${name}.test`, ...headers } })).status
    const pass = { 'x-pass': '1', authorization: 'secret' }
    assert.equal(await ask('guarded', '/app'), 403)
    assert.equal(await ask('guarded', '/nowhere'), 403, 'a denied client does not learn which routes there are')
    assert.equal(origin.seen.length, 0)
    assert.equal(await ask('guarded', '/app', pass), 200)
    assert.equal(await ask('guarded', '/nowhere', pass), 404)
    assert.equal(authorizer.seen.length, 4)
    assert.equal(authorizer.seen[2]?.attributes?.request?.http?.headers.get('authorization'), undefined)
    assert.equal(await ask('closed', '/app', pass), 403, 'without its authorizer the listener admits nobody')
    assert.equal(await ask('open', '/app'), 200, 'other listeners have no filter')
    assert.equal(origin.seen.length, 2)
  })

  test('a limit of time, retries, and a rule that is wrong', async (t) => {
    let failures = 0
    const flaky = await useOrigin(t, (_request, response) => response.writeHead(failures++ < 2 ? 503 : 200).end())
    const silent = await useOrigin(t, () => {})
    const gateway = await useManifests(t, [
      HTTP,
      routeOf(
        { matches: at('/flaky'), retry: { codes: [503], attempts: 2 }, backendRefs: [to('flaky')] },
        { matches: at('/slow'), timeouts: { request: '100ms' }, backendRefs: [to('silent')] },
        { matches: at('/one-try'), timeouts: { backendRequest: '100ms' }, backendRefs: [to('silent')] },
        { matches: at('/wrong'), filters: [{ type: 'Magic' }], backendRefs: [to('flaky')] },
        { matches: at('/empty') },
      ),
      ...serviceAt('flaky', flaky.port),
      ...serviceAt('silent', silent.port),
    ])
    const ask = async (path: string) => (await request(gateway.port(), { path })).status
    assert.equal(await ask('/flaky'), 200)
    assert.equal(flaky.seen.length, 3)
    assert.equal(await ask('/slow'), 504)
    assert.equal(await ask('/one-try'), 504)
    assert.equal(await ask('/wrong'), 500)
    assert.equal(await ask('/empty'), 500)
    await gateway.finished(5)
    assert.equal(gateway.records[3]?.error, 'Filter Magic is not supported here')
  })
})

describe('problems in files of resources have locations', () => {
  test('labels and annotations that are no texts', async (t) => {
    const text = `apiVersion: v1
kind: Service
metadata:
  name: app
  labels: { tier: 1, team: shop }
  annotations:
    portico.dev/mcp-path: [/mcp]
    note: true
spec: { ports: [{ port: 80 }] }
---
kind: List
items:
- apiVersion: v1
  kind: Namespace
  metadata: { name: shop, labels: open, generation: one }
- apiVersion: gateway.networking.k8s.io/v1
  kind: Gateway
  metadata: { name: web, annotations: , labels: , creationTimestamp: 7 }
  spec: { gatewayClassName: portico, listeners: [{ name: http, port: 80, protocol: HTTP }] }
`
    const loaded = await load(t, text)
    if (loaded.ok) return assert.fail('it was loaded')
    const printed = loaded.problems.map(({ location, path, found }) => {
      const at = 'line' in location ? `${location.line}:${location.column}` : ''
      return `${at} ${path.join('.')} ${found}`
    })
    assert.deepEqual(printed, [
      '5:19 metadata.labels.tier found a value that must be a text, is 1',
      '7:27 metadata.annotations.portico.dev/mcp-path found a value that must be a text, is a list',
      '8:11 metadata.annotations.note found a value that must be a text, is true',
      '15:35 metadata.labels found a value that must be an object, is "open"',
      '15:53 metadata.generation found a value that must be an integer from 0 to 9007199254740991, is "one"',
      '18:70 metadata.creationTimestamp found a value that must be a text, is 7',
    ])
  })

  test('the affinity of a Service goes to its backend, without a warning', async (t) => {
    const [service, slice] = serviceAt('app', 9000) as [{ spec: object }, object]
    const affine = { ...service, spec: { ...service.spec, sessionAffinity: 'ClientIP' } }
    const resources = [HTTP, routeOf({ backendRefs: [to('app')] }), affine, slice]
    assert.equal(await told(t, resources), '')
    const loaded = await load(t, JSON.stringify({ apiVersion: 'v1', kind: 'List', items: resources }))
    if (!loaded.ok) return assert.fail('it was not loaded')
    const targets = loaded.ir.backends.map(({ target }) => target)
    assert.deepEqual(
      targets.map((target) => target.kind === 'service' && target.affinity),
      ['ClientIP'],
    )
  })
})
