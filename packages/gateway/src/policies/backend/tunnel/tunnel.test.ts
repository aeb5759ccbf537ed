import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import { createServer as createHttpsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { checkCompile } from '../../../compile/check.ts'
import { loadConfig } from '../../../sources/file.ts'
import { printProblems } from '../../../sources/print-problems.ts'
import { exchangeRaw, request } from '../../../testing/client.ts'
import { type ConnectProxy, useConnectProxy } from '../../../testing/services/connect-proxy.ts'
import type { TestGatewayOptions } from '../../../testing/gateway.ts'
import { lookupIn } from '../../../testing/lookup.ts'
import { closedPort, httpConfig, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'
import '../../../testing/all-features.ts'

const tunnel = { backendRef: { name: 'egress' } }
/** Nothing is resolved here: a lookup of the target would fail. */
const lookup = lookupIn({})

function egress(proxy: { port: number }, policies: object = {}): object {
  return { name: 'egress', static: { host: '127.0.0.1', port: proxy.port }, policies }
}

function configFor(target: string, proxy: { port: number }, policies: { backend?: object; proxy?: object } = {}) {
  const backends = [{ host: target, policies: { tunnel, ...policies.backend } }]
  return httpConfig([{ backends }], { backends: [egress(proxy, policies.proxy)] })
}

function tcpConfigFor(target: string, proxy: { port: number }) {
  const listener = { protocol: 'TCP', routes: [{ backends: [{ host: target, policies: { tunnel } }] }] }
  return { backends: [egress(proxy)], binds: [{ port: 0, listeners: [listener] }] }
}

async function ask(t: TestContext, config: object, options: TestGatewayOptions = {}): Promise<string> {
  const gateway = await useGateway(t, config, { lookup, ...options })
  const { status, body } = await request(gateway.port())
  return `${status} ${body}`
}

/** A TLS server for `app.test` that says which name was asked for. */
async function useSecureOrigin(t: TestContext) {
  const { dir } = useTlsFiles(t, ['app.test', 'proxy.test'])
  const read = (file: string) => readFileSync(join(dir, file), 'utf8')
  const pair = (name: string) => ({ cert: read(`${name}.crt`), key: read(`${name}.key`) })
  const server = createHttpsServer(pair('app.test'), (message, response) => {
    const socket = message.socket as typeof message.socket & { servername: string | false }
    response.end(`secure ${String(socket.servername)}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const { port } = server.address() as AddressInfo
  return { dir, pair, port, tls: { caCertificateRefs: ['ca.crt'] } }
}

test('a backend is reached through the proxy, which gets its name unresolved', async (t) => {
  const origin = await useOrigin(t)
  const proxy = await useConnectProxy(t)
  const target = `app.test:${origin.port}`
  const gateway = await useGateway(t, configFor(target, proxy), { lookup })
  for (let i = 0; i < 3; i++) {
    const { status, body } = await request(gateway.port(), { method: 'POST', body: `hello ${i}` })
    assert.deepEqual([status, body], [200, 'ok'])
  }
  assert.deepEqual(
    proxy.heads.map((head) => head.replace(/[0-9a-f]{16}/, '<gateway>')),
    [`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\nx-portico-hops: <gateway>\r\n\r\n`],
  )
  assert.deepEqual(
    origin.seen.map(({ headers, body }) => [headers.host, body]),
    [0, 1, 2].map((i) => [target, `hello ${i}`]),
  )
  assert.equal(gateway.records[0]!.endpoint, target)
})

test('an IPv6 address goes to the proxy in brackets', async (t) => {
  const origin = await useOrigin(t)
  const proxy = await useConnectProxy(t)
  assert.equal(await ask(t, configFor(`[2001:db8::1]:${origin.port}`, proxy)), '200 ok')
  assert.deepEqual(proxy.targets, [`[2001:db8::1]:${origin.port}`])
})

test('TLS runs inside the tunnel, and asks for the name of the backend', async (t) => {
  const { dir, port, tls } = await useSecureOrigin(t)
  const proxy = await useConnectProxy(t)
  assert.equal(await ask(t, configFor(`app.test:${port}`, proxy, { backend: { tls } }), { dir }), '200 secure app.test')
  assert.match(
    await ask(t, configFor(`other.test:${port}`, proxy, { backend: { tls } }), { dir }),
    /^503 upstream call failed: the certificate of the backend is not for other\.test/,
  )
  assert.deepEqual(proxy.targets, [`app.test:${port}`, `other.test:${port}`])
})

test('a tunnel is closed when TLS inside it fails, and when it is idle', async (t) => {
  const { dir, pair, port, tls } = await useSecureOrigin(t)
  for (const secure of [false, true]) {
    const proxy = await useConnectProxy(t, secure ? { tls: pair('proxy.test') } : {})
    const toProxy = secure ? { tls: { ...tls, sni: 'proxy.test' } } : {}
    const config = (host: string) => configFor(`${host}:${port}`, proxy, { proxy: toProxy, backend: { tls } })
    assert.match(await ask(t, config('other.test'), { dir }), /^503 /)
    await until(() => proxy.connectionCount() === 0)
    assert.match(await ask(t, config('app.test'), { dir, poolIdleTimeoutMs: 50 }), /^200 /)
    await until(() => proxy.connectionCount() === 0)
  }
})

test('the connection to the proxy has TLS of its own, with or without TLS inside', async (t) => {
  const { dir, pair, port, tls } = await useSecureOrigin(t)
  const origin = await useOrigin(t)
  const proxy = await useConnectProxy(t, { tls: pair('proxy.test') })
  const toProxy = { tls: { ...tls, sni: 'proxy.test' } }
  const plain = configFor(`app.test:${origin.port}`, proxy, { proxy: toProxy })
  assert.equal(await ask(t, plain, { dir }), '200 ok')
  const secure = configFor(`app.test:${port}`, proxy, { proxy: toProxy, backend: { tls } })
  assert.equal(await ask(t, secure, { dir }), '200 secure app.test')
  const wrong = configFor(`app.test:${port}`, proxy, { proxy: { tls }, backend: { tls } })
  assert.match(await ask(t, wrong, { dir }), /^503 upstream call failed: tunnel through egress: the certificate /)
})

test('HTTP/2 is spoken through a tunnel', async (t) => {
  const { dir, pair, tls } = await useSecureOrigin(t)
  const server = createSecureServer(pair('app.test'), (message, response) => {
    response.end(`version ${message.httpVersion}`)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const proxy = await useConnectProxy(t)
  const config = configFor(`app.test:${port}`, proxy, { backend: { tls, http: { version: 'HTTP2' } } })
  const gateway = await useGateway(t, config, { dir, lookup })
  const answers = await Promise.all([1, 2, 3].map(() => request(gateway.port())))
  assert.deepEqual(
    answers.map(({ body }) => body),
    ['version 2.0', 'version 2.0', 'version 2.0'],
  )
  assert.equal(proxy.targets.length, 1)
})

test('the credentials of the proxy go to the proxy, and to nobody else', async (t) => {
  const origin = await useOrigin(t)
  const wanted = (value: string) => (head: string) =>
    head.includes(`\r\nproxy-authorization: ${value}\r\n`)
      ? undefined
      : 'HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n'
  const bearer = await useConnectProxy(t, { answer: wanted('Bearer s3cret') })
  const target = `app.test:${origin.port}`
  assert.equal(await ask(t, configFor(target, bearer, { proxy: { auth: { key: 's3cret' } } })), '200 ok')
  const basic = await useConnectProxy(t, { answer: wanted('Basic dTpw') })
  const location = { header: { name: 'Proxy-Authorization', prefix: 'Basic ' } }
  const auth = { secretRef: { env: 'PROXY_AUTH' }, location }
  assert.equal(await ask(t, configFor(target, basic, { proxy: { auth } }), { env: { PROXY_AUTH: 'dTpw' } }), '200 ok')
  for (const { headers } of origin.seen) {
    assert.deepEqual([headers['proxy-authorization'], headers.authorization], [undefined, undefined])
  }
})

test('a proxy that refuses is named with what it answered', async (t) => {
  for (const [reply, expected] of [
    [
      'HTTP/1.1 407 <b>Who</b>\r\nproxy-authenticate: Basic\r\n\r\n',
      'the proxy answered 407, it wants other credentials',
    ],
    ['HTTP/1.1 502 Bad Gateway\r\n\r\n', 'the proxy answered 502'],
    ['HTTP/1.1 100 Continue\r\n\r\n', 'the proxy answered 100'],
    ['HTTP/1.1 204 No Content\r\n\r\n', 'the proxy answered 204'],
    ['SSH-2.0-x\r\n\r\n', 'the reply of the proxy is malformed'],
    ['SSH-2.0-x\r\n', 'the reply of the proxy is malformed'],
    [`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(8192)}\r\n\r\n`, 'the reply of the proxy is too long'],
    [`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(9000)}`, 'the reply of the proxy is too long'],
  ] as const) {
    const proxy = await useConnectProxy(t, { answer: () => reply })
    const answer = await ask(t, configFor('app.test:80', proxy))
    assert.equal(answer, `503 upstream call failed: tunnel through egress: ${expected}`)
  }
})

test('a reply that comes in pieces is put together', async (t) => {
  const server = await useTcpServer(t, (socket) => {
    socket.on('data', (chunk: Buffer) => {
      if (!chunk.toString().startsWith('CONNECT'))
        return void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
      const pieces = 'HTTP/1.0 200 OK\r\nx: y\r\n\r\n'.split('')
      const next = (): void => {
        const piece = pieces.shift()
        if (piece !== undefined) socket.write(piece, () => setImmediate(next))
      }
      next()
    })
  })
  assert.equal(await ask(t, configFor('app.test:80', server)), '200 ok')
})

test('a proxy that is down, closes or does not answer gives an error in time', async (t) => {
  const down = { port: await closedPort() }
  assert.equal(
    await ask(t, configFor('app.test:80', down)),
    '503 upstream call failed: tunnel through egress: ECONNREFUSED',
  )
  const closing = await useTcpServer(t, (socket) => socket.once('data', () => socket.end()))
  assert.equal(
    await ask(t, configFor('app.test:80', closing)),
    '503 upstream call failed: tunnel through egress: the proxy closed the connection',
  )
  const silent = await useConnectProxy(t, { answer: () => null })
  const config = configFor('app.test:80', silent, { backend: { tcp: { connectTimeout: '100ms' } } })
  const gateway = await useGateway(t, config, { lookup })
  assert.equal((await request(gateway.port())).status, 504)
  await gateway.finished(1)
  assert.equal(gateway.records[0]!.error, 'tunnel through egress: connect timed out')
  await until(() => silent.connectionCount() === 0)
})

test('a proxy by name is resolved here, and its next address is tried', async (t) => {
  const origin = await useOrigin(t)
  const proxy = await useConnectProxy(t)
  const target = `app.test:${origin.port}`
  const named = { name: 'egress', static: { host: 'proxy.test', port: proxy.port } }
  const config = httpConfig([{ backends: [{ host: target, policies: { tunnel } }] }], { backends: [named] })
  const options = { lookup: lookupIn({ 'proxy.test': ['127.0.0.9', '127.0.0.1'] }) }
  assert.equal(await ask(t, config, options), '200 ok')
  assert.equal(await ask(t, config), '503 backends required DNS resolution which failed')
})

test('a request is sent again when the tunnel could not be made', async (t) => {
  const origin = await useOrigin(t)
  let refusals = 1
  const proxy = await useConnectProxy(t, {
    answer: () => (refusals-- > 0 ? 'HTTP/1.1 503 Busy\r\n\r\n' : undefined),
  })
  const backends = [{ host: `app.test:${origin.port}`, policies: { tunnel } }]
  const route = { policies: { retry: { attempts: 1 } }, backends }
  const gateway = await useGateway(t, httpConfig([route], { backends: [egress(proxy)] }), { lookup })
  assert.equal((await request(gateway.port(), { method: 'POST', body: 'once' })).status, 200)
  assert.deepEqual(
    origin.seen.map(({ body }) => body),
    ['once'],
  )
})

test('connections of TCP listeners go through a tunnel, with what the target says first', async (t) => {
  const echo = await useTcpServer(t, (socket) => socket.pipe(socket))
  const proxy = await useConnectProxy(t, { early: '220 hello\r\n' })
  const gateway = await useGateway(t, tcpConfigFor(`app.test:${echo.port}`, proxy), { lookup })
  const text = await exchangeRaw(gateway.port(), 'ping', (received) => received.endsWith('ping'))
  assert.equal(text, '220 hello\r\nping')
})

test('another proxy under the same name is used after a reload', async (t) => {
  const origin = await useOrigin(t)
  const [first, second] = [await useConnectProxy(t), await useConnectProxy(t)]
  const target = `app.test:${origin.port}`
  const gateway = await useGateway(t, configFor(target, first), { lookup })
  await request(gateway.port())
  await gateway.reload(JSON.stringify(configFor(target, second)))
  await request(gateway.port())
  assert.deepEqual([first.targets.length, second.targets.length], [1, 1])
})

test('a tunnel for the whole gateway does not lead the proxy to itself', async (t) => {
  const origin = await useOrigin(t)
  const proxy = await useConnectProxy(t)
  const policies = [{ name: 'out', targetRefs: [{ kind: 'Gateway', name: 'default' }], backend: { tunnel } }]
  const routes = [{ backends: [{ host: `app.test:${origin.port}` }] }]
  assert.equal(await ask(t, { policies, ...httpConfig(routes, { backends: [egress(proxy)] }) }), '200 ok')
  assert.equal(proxy.targets.length, 1)
})

test('an impossible tunnel is rejected at load', () => {
  const proxy: Pick<ConnectProxy, 'port'> = { port: 3128 }
  const app = { host: 'app.test:80', policies: { tunnel } }
  const second = { name: 'second', static: { host: 'b', port: 1 } }
  const nested = { tunnel: { backendRef: { name: 'second' } } }
  const location = (where: object) => ({ auth: { key: 'x', location: where } })
  for (const [entry, backends, expected] of [
    [
      { host: 'app.test:80', policies: { tunnel: { backendRef: { name: 'egres' } } } },
      [egress(proxy)],
      /found no backend named `egres`.*did you mean `egress`/s,
    ],
    [app, [{ name: 'egress', dynamicForwardProxy: {} }], /found a dynamic forward proxy/],
    [
      { dynamicForwardProxy: {}, policies: { tunnel } },
      [egress(proxy)],
      /found a tunnel for dynamicForwardProxy, expected a fixed destination/,
    ],
    [
      { host: 'unix:/run/app.sock', policies: { tunnel } },
      [egress(proxy)],
      /found a tunnel for unix:\/run\/app\.sock, expected a host and port/,
    ],
    [app, [egress(proxy, nested), second], /found a tunnel of egress, which is the proxy of app\.test:80/],
    [app, [egress(proxy, { auth: { passthrough: {} } })], /found `auth\.passthrough` for a proxy/],
    [app, [egress(proxy, { auth: { azure: {} } })], /found `auth` of a cloud for a proxy/],
    [
      app,
      [egress(proxy, location({ queryParameter: { name: 'k' } }))],
      /unsupported location for the credential of a proxy, expected the header/,
    ],
    [
      app,
      [egress(proxy, location({ header: { name: 'x-key' } }))],
      /unsupported location for the credential of a proxy, expected the header/,
    ],
  ] as const) {
    assert.match(problemsOf(httpConfig([{ backends: [entry] }], { backends: [...backends] })), expected)
  }
})

function problemsOf(config: object): string {
  const loaded = loadConfig(JSON.stringify(config), { file: 'test.yaml', dir: '.', env: {} })
  return loaded.ok
    ? checkCompile(loaded.ir)
        .map(({ message }) => message)
        .join()
    : printProblems(loaded.problems)
}
