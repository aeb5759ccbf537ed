import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { useConnectProxy } from '../../../testing/services/connect-proxy.ts'
import { useKeycloak } from '../../../testing/services/identity-providers.ts'
import { createSigningKey, ISSUER, keySetOf, sign } from '../../../testing/services/issuer.ts'
import { lookupIn } from '../../../testing/lookup.ts'
import { McpCaller } from '../../../testing/mcp/mcp-caller.ts'
import { type Collector, type SeenSpan, useGrpcCollector } from '../../../testing/otlp/otlp-collector.ts'
import {
  closedPort,
  httpConfig,
  pathPrefix,
  routeTo,
  until,
  useGateway,
  useOrigin,
  useTcpServer,
} from '../../../testing/scene.ts'

/** Calls that are neither what a request wants nor what a policy decides by, and that it waits for all the same. */

const SERVER = 2

async function scene(t: TestContext, routes: object[], more: object = {}, options: object = {}) {
  const collector = await useGrpcCollector(t)
  const tracing = { backendRef: { host: collector.host }, randomSampling: true }
  const config = httpConfig(routes, { frontend: { tracing }, ...more })
  return { collector, gateway: await useGateway(t, config, options) }
}

const called = ({ spans }: Collector, what: string): SeenSpan[] =>
  spans.filter(({ attributes }) => attributes['portico.call'] === what)
const servers = ({ spans }: Collector): SeenSpan[] => spans.filter(({ kind }) => kind === SERVER)
const outcome = (span: SeenSpan | undefined) => [
  span?.attributes['http.status'],
  span?.status?.code,
  span?.attributes['error.type'],
]

test('keys of an issuer are fetched within the trace of the request that needs them first', async (t) => {
  const key = createSigningKey('first')
  let isBroken = true
  const issuer = await useOrigin(t, (_seen, response) =>
    isBroken ? response.writeHead(500).end() : response.end(keySetOf(key)),
  )
  const origin = await useOrigin(t)
  const providers = [{ issuer: ISSUER, jwks: { url: `http://${issuer.host}/keys?secret=hunter` } }]
  let now = performance.now()
  const routes = [routeTo(origin, { jwtAuthentication: { mode: 'Strict', providers } })]
  const { collector, gateway } = await scene(t, routes, {}, { monotonic: () => now })
  const ask = async () => {
    collector.spans.length = 0
    const headers = { authorization: `Bearer ${await sign(key)}` }
    const { status } = await request(gateway.port(), { headers })
    await until(() => servers(collector).length === 1)
    return status
  }
  assert.equal(await ask(), 401)
  const [failed] = called(collector, 'jwks')
  assert.deepEqual(outcome(failed), [500, 2, '500'])
  isBroken = false
  now += 60_000
  assert.equal(await ask(), 200)
  const [fetched] = called(collector, 'jwks')
  assert.deepEqual(
    [...outcome(fetched), fetched?.parentId, fetched?.attributes['http.path']],
    [200, undefined, undefined, servers(collector)[0]?.spanId, '/keys'],
  )
  assert.equal(issuer.seen.at(-1)?.headers['traceparent'], `00-${fetched?.traceId}-${fetched?.spanId}-01`)
  assert.equal(await ask(), 200)
  assert.deepEqual(called(collector, 'jwks'), [], 'they are kept')
})

test('a call to a cloud has a span without secrets', async (t) => {
  let isUp = false
  const endpoint = await useOrigin(t, (_seen, response) => {
    if (isUp) response.end(JSON.stringify({ access_token: 't0ken', expires_in: 3600 }))
    else response.writeHead(401).end(JSON.stringify({ error: 'invalid_client', error_description: 's3cret' }))
  })
  const origin = await useOrigin(t)
  const azure = { secretRef: { data: { clientID: 'app', tenantID: 'tenant', clientSecret: 's3cret' } } }
  let now = performance.now()
  const { collector, gateway } = await scene(
    t,
    [routeTo(origin, { backend: { auth: { azure } } })],
    {},
    { monotonic: () => now, env: { AZURE_AUTHORITY_HOST: `http://${endpoint.host}` } },
  )
  assert.equal((await request(gateway.port())).status, 500)
  await until(() => servers(collector).length === 1 && called(collector, 'credentials').length === 1)
  isUp = true
  now += 60_000
  assert.equal((await request(gateway.port())).status, 200)
  assert.equal((await request(gateway.port())).status, 200)
  await until(() => servers(collector).length === 3)
  const spans = called(collector, 'credentials')
  assert.deepEqual(
    spans.map(({ name, kind, parentId, status, attributes }) => [name, kind, parentId, status, attributes]),
    [
      [
        'credentials',
        3,
        servers(collector)[0]?.spanId,
        { code: 2, message: 'no Azure token: the endpoint answered 401, invalid_client' },
        { 'portico.call': 'credentials', 'portico.cloud': 'azure', 'error.type': 'no_credentials' },
      ],
      [
        'credentials',
        3,
        servers(collector)[1]?.spanId,
        null,
        { 'portico.call': 'credentials', 'portico.cloud': 'azure' },
      ],
    ],
  )
  const all = JSON.stringify(collector.spans, (_key, value: unknown) => (typeof value === 'bigint' ? '' : value))
  for (const secret of ['s3cret', 't0ken']) assert.ok(!all.includes(secret), secret)
})

test('so are the documents of an authorization server, and clients are registered within one', async (t) => {
  const idp = await useKeycloak(t)
  const origin = await useOrigin(t)
  const mcpAuthentication = { issuer: idp.issuer, audiences: ['https://mcp.example.com'], provider: 'Keycloak' }
  const { collector, gateway } = await scene(t, [routeTo(origin, { mcpAuthentication }, pathPrefix('/mcp'))])
  const metadata = '/.well-known/oauth-authorization-server/mcp'
  assert.equal((await request(gateway.port(), { path: metadata })).status, 200)
  const registration = { method: 'POST', path: `${metadata}/client-registration`, body: '{"redirect_uris":[]}' }
  await request(gateway.port(), registration)
  await until(() => servers(collector).length === 2)
  const parents = servers(collector).map(({ spanId }) => spanId)
  assert.deepEqual(
    called(collector, 'oauth').map(({ parentId, attributes }) => [
      parents.indexOf(parentId),
      attributes['http.method'],
    ]),
    [
      [0, 'GET'],
      [1, 'POST'],
    ],
  )
})

test('the way through a proxy has a span under that of the call, once for each connection', async (t) => {
  const origin = await useOrigin(t)
  const proxy = await useConnectProxy(t, { portOf: () => origin.port })
  const refusing = await useConnectProxy(t, { answer: () => 'HTTP/1.1 407 No\r\n\r\n' })
  const egress = (name: string, { port }: { port: number }) => ({ name, static: { host: '127.0.0.1', port } })
  const through = (name: string, path: string) => ({
    ...pathPrefix(path),
    backends: [{ host: 'app.test:80', policies: { tunnel: { backendRef: { name } } } }],
  })
  const { collector, gateway } = await scene(
    t,
    [through('egress', '/good'), through('closed', '/bad')],
    { backends: [egress('egress', proxy), egress('closed', refusing)] },
    { lookup: lookupIn({}) },
  )
  assert.equal((await request(gateway.port(), { path: '/good' })).status, 200)
  await collector.taken(3)
  const [tunnel] = called(collector, 'tunnel')
  const [call] = called(collector, 'backend')
  assert.deepEqual(
    [...outcome(tunnel), tunnel?.parentId, tunnel?.attributes['http.method'], tunnel?.attributes['http.host']],
    [200, undefined, undefined, call?.spanId, 'CONNECT', 'app.test:80'],
  )
  collector.spans.length = 0
  assert.equal((await request(gateway.port(), { path: '/good' })).status, 200)
  await until(() => servers(collector).length === 1)
  assert.deepEqual(called(collector, 'tunnel'), [], 'the connection is kept')
  collector.spans.length = 0
  assert.equal((await request(gateway.port(), { path: '/bad' })).status, 503)
  await until(() => servers(collector).length === 1)
  assert.deepEqual(outcome(called(collector, 'tunnel')[0]), [undefined, 2, 'connect_failed'])
  assert.deepEqual(outcome(called(collector, 'backend')[0]), [undefined, 2, 'connect_failed'])
})

test('a tunnel that a client asks for has a span that lasts as long', async (t) => {
  const target = await useTcpServer(t, (socket) => socket.on('data', (chunk) => socket.write(chunk)))
  const dead = await closedPort()
  const policies = { upgrades: { protocols: ['connect'] } }
  const { collector, gateway } = await scene(t, [
    { policies, matches: [{ method: 'CONNECT' }], backends: [{ host: target.host }] },
  ])
  const socket = connect(gateway.port(), '127.0.0.1').on('error', () => {})
  let received = ''
  socket.on('data', (chunk: Buffer) => (received += chunk.toString()))
  socket.write(`CONNECT ${target.host} HTTP/1.1\r\nhost: ${target.host}\r\n\r\n`)
  await until(() => received.includes('\r\n\r\n'))
  socket.write('hi')
  await until(() => received.endsWith('hi'))
  assert.deepEqual(collector.spans, [], 'it is open')
  socket.destroy()
  await collector.taken(2)
  const [call] = called(collector, 'backend')
  assert.deepEqual(
    [...outcome(call), call?.parentId, call?.attributes['http.method'], call?.attributes['endpoint']],
    [200, undefined, undefined, servers(collector)[0]?.spanId, 'CONNECT', target.host],
  )

  const other = await scene(t, [
    { policies, matches: [{ method: 'CONNECT' }], backends: [{ host: `127.0.0.1:${dead}` }] },
  ])
  const head = `CONNECT 127.0.0.1:${dead} HTTP/1.1\r\nhost: 127.0.0.1:${dead}\r\n\r\n`
  const failing = connect(other.gateway.port(), '127.0.0.1').on('error', () => {})
  failing.write(head)
  await other.collector.taken(2)
  assert.deepEqual(outcome(called(other.collector, 'backend')[0]), [undefined, 2, 'connect_failed'])
  failing.destroy()
})

test('the beginning of a session with an MCP server has a span, with programs too', async (t) => {
  const program = fileURLToPath(new URL('../../../testing/mcp/stdio-server.mjs', import.meta.url))
  const targets = [
    { name: 'program', stdio: { cmd: process.execPath, args: [program] } },
    { name: 'missing', stdio: { cmd: '/nowhere/to/be/found' } },
  ]
  const { collector, gateway } = await scene(t, [
    { ...pathPrefix('/mcp'), backends: [{ mcp: { targets, failureMode: 'FailOpen' } }] },
  ])
  await new McpCaller(gateway.port()).begin()
  await until(() => servers(collector).some(({ name }) => name === 'initialize'))
  const own = servers(collector).find(({ name }) => name === 'initialize')
  const begun = called(collector, 'mcp').filter(({ name }) => name === 'initialize')
  const of = (target: string) => begun.filter(({ attributes }) => attributes['mcp.target'] === target)
  assert.deepEqual(
    of('program').map(({ parentId, status }) => [parentId, status]),
    [[own?.spanId, null]],
  )
  assert.deepEqual(
    of('missing').map(({ parentId, status, attributes }) => [parentId, status?.code, attributes['error.type']]),
    [[own?.spanId, 2, 'unavailable']],
  )
})
