import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { bytesOption, type Check, denied, NO, ok, option, useAuthorizer } from '../../../testing/services/authorizer.ts'
import { request, sendRaw } from '../../../testing/client.ts'
import { requestTls } from '../../../testing/tls-client.ts'
import { useTlsFiles } from '../../../testing/tls-files.ts'
import type { CheckRequest } from '../../../protos/envoy/service/auth/v3/external_auth.ts'
import { closedPort, httpConfig, routeTo, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'

async function setUp(t: TestContext, check: Check, extAuth: object = {}, policies: object = {}) {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, check)
  const backendRef = { host: authorizer.host }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, { extAuth: { backendRef, ...extAuth }, ...policies })]),
  )
  return { origin, authorizer, gateway, ask: (options = {}) => request(gateway.port(), options) }
}

test('the authorizer decides, and is told what the client asks for', async (t) => {
  const check: Check = ({ attributes }) => (attributes?.request?.http?.path === '/no' ? NO : {})
  const { origin, authorizer, gateway, ask } = await setUp(t, check, { grpc: { contextExtensions: { tier: 'gold' } } })
  const headers = { 'x-a': '1', cookie: 'a=1', 'x-request-id': 'id-1' }
  assert.equal((await ask({ path: '/yes?q=1', headers })).status, 200)
  const refused = await ask({ path: '/no' })
  assert.deepEqual(
    [refused.status, refused.body, refused.headers['content-type']],
    [403, 'external authorization failed', 'text/plain'],
  )
  assert.equal(origin.seen.length, 1)
  const http = authorizer.seen[0]?.attributes?.request?.http
  assert.deepEqual(
    [http?.method, http?.path, http?.host, http?.scheme, http?.protocol, http?.id, http?.body],
    ['GET', '/yes?q=1', 'test.example', 'http', 'HTTP/1.1', 'id-1', ''],
  )
  assert.equal(http?.headers.get('x-a'), '1')
  assert.equal(http?.headers.get(':path'), '/yes?q=1')
  assert.equal(authorizer.seen[0]?.attributes?.contextExtensions.get('tier'), 'gold')
  const address = authorizer.seen[0]?.attributes?.source?.address?.address
  assert.equal(address?.$case === 'socketAddress' && address.value.address, '127.0.0.1')
  await gateway.finished(2)
  assert.deepEqual(
    gateway.records.map(({ reason }) => reason),
    ['Upstream', 'ExtAuth'],
  )
})

test('with allowedRequestHeaders the authorizer gets these headers and no others', async (t) => {
  const { origin, authorizer, ask } = await setUp(t, () => ({}), { grpc: { allowedRequestHeaders: ['x-a', 'cookie'] } })
  const headers = { 'X-A': '1', cookie: 'a=1', authorization: 'secret', 'x-request-id': 'id-1' }
  assert.equal((await ask({ path: '/yes', headers })).status, 200)
  const http = authorizer.seen[0]?.attributes?.request?.http
  const sent = [...(http?.headers ?? [])].filter(([name]) => !name.startsWith(':'))
  assert.deepEqual(Object.fromEntries(sent), { 'x-a': '1', cookie: 'a=1' })
  assert.deepEqual([http?.path, http?.id], ['/yes', ''])
  assert.equal(origin.seen[0]?.headers.authorization, 'secret', 'the backend gets all headers')
})

test('headers are set, appended and removed as it says, and what frames a message stays ours', async (t) => {
  const { origin, ask } = await setUp(t, () =>
    ok({
      headers: [
        option('X-User', 'ann'),
        option('x-list', 'b', { append: true }),
        option('x-new', 'n', { appendAction: 1 }),
        option('x-list', 'never', { appendAction: 1 }),
        option('x-none', 'never', { appendAction: 3 }),
        option('transfer-encoding', 'chunked'),
        option('content-length', '99'),
        option(':path', '/admin'),
      ],
      headersToRemove: ['Authorization', 'host', ':method'],
      queryParametersToSet: [{ key: 'user', value: 'ann&co' }],
      queryParametersToRemove: ['token'],
      responseHeadersToAdd: [option('x-decided', 'yes'), option('content-length', '1')],
    }),
  )
  const headers = { authorization: 'secret', 'x-user': 'mallory', x_user: 'mallory', 'x-list': 'a' }
  const answer = await ask({ path: '/p?a=%20b&token=t&user=x', headers })
  assert.equal(answer.status, 200)
  assert.equal(answer.headers['x-decided'], 'yes')
  assert.equal(answer.body.length, Number(answer.headers['content-length']))
  const seen = origin.seen[0]
  assert.equal(seen?.url, '/p?a=%20b&user=ann%26co')
  assert.equal(seen?.headers['authorization'], undefined)
  assert.deepEqual([seen?.headers['x-user'], seen?.headers['x_user']], ['ann', undefined])
  assert.equal(seen?.headers['x-list'], 'a, b')
  assert.equal(seen?.headers['x-new'], 'n')
  for (const name of ['x-none', 'transfer-encoding']) assert.equal(seen?.headers[name], undefined)
  assert.equal(seen?.headers['host'], 'test.example')
})

test('a refusal has the status, headers and body that it says', async (t) => {
  const check: Check = ({ attributes }) =>
    denied({
      status: { code: attributes?.request?.http?.path === '/odd' ? 99 : 429 },
      headers: [option('x-why', 'too many')],
      body: 'slow down',
    })
  const { origin, ask } = await setUp(t, check)
  const answer = await ask()
  assert.deepEqual([answer.status, answer.body, answer.headers['x-why']], [429, 'slow down', 'too many'])
  assert.equal(answer.headers['content-type'], 'text/plain')
  assert.equal((await ask({ path: '/odd' })).status, 403)
  const grpc = await ask({ method: 'POST', headers: { 'content-type': 'application/grpc' } })
  assert.deepEqual([grpc.status, grpc.headers['grpc-status'], grpc.headers['x-why']], [200, '14', 'too many'])
  assert.equal(origin.seen.length, 0)
})

test('metadata of the decision is visible to later rules', async (t) => {
  const { ask } = await setUp(
    t,
    ({ attributes }) => ({
      dynamicMetadata: { team: attributes?.request?.http?.headers.get('x-team') ?? null, deep: { n: 1 } },
    }),
    {},
    { authorization: { rules: ['extauthz.team == "red" && extauthz.deep.n == 1.0'] } },
  )
  assert.equal((await ask({ headers: { 'x-team': 'red' } })).status, 200)
  assert.equal((await ask({ headers: { 'x-team': 'blue' } })).status, 403)
})

test('request metadata may read the body, in any form of the policy', async (t) => {
  const grpc = { requestMetadata: { model: 'json(request.body).model' } }
  const plain = await setUp(t, () => ({}), { grpc })
  const conditional = [{ policy: { backendRef: { host: plain.authorizer.host }, grpc } }]
  const chosen = await useGateway(t, httpConfig([routeTo(plain.origin, { extAuth: { conditional } })]))
  for (const port of [plain.gateway.port(), chosen.port()]) {
    assert.equal((await request(port, { method: 'POST', body: '{"model":"large"}' })).status, 200)
  }
  assert.deepEqual(
    plain.authorizer.seen.map(({ attributes }) => attributes?.metadataContext?.filterMetadata.get('model')),
    [{ value: 'large' }, { value: 'large' }],
  )
  assert.deepEqual(
    plain.origin.seen.map(({ body }) => body),
    ['{"model":"large"}', '{"model":"large"}'],
  )
})

test('names of metadata are names and nothing else, however odd', async (t) => {
  const odd = '{"__proto__": {"admin": true}, "constructor": "c", "deep": {"__proto__": {"admin": true}}}'
  const rules = [
    '!has(extauthz.admin) && !has(extauthz.deep.admin) && !("admin" in extauthz)',
    'extauthz["__proto__"].admin && extauthz["deep"]["__proto__"].admin && extauthz["constructor"] == "c"',
    'extauthz.size() == 3 && extauthz.deep.size() == 1',
  ].map((require) => ({ require }))
  const { gateway, ask } = await setUp(
    t,
    () => ({ dynamicMetadata: JSON.parse(odd) as Record<string, unknown> }),
    {},
    { authorization: { rules } },
  )
  const traced = gateway.trace()
  const answer = await ask()
  assert.deepEqual([answer.status, answer.body.length > 0], [200, true], answer.body)
  assert.equal(({} as Record<string, unknown>).admin, undefined)
  assert.ok(JSON.stringify(await traced).includes('"__proto__":{"admin":true}'))
})

test('an answer without a status lets the request pass, as one whose status is OK', async (t) => {
  const { httpResponse } = denied({ status: { code: 401 } })
  const empty: Check = ({ attributes }) =>
    attributes?.request?.http?.path === '/both' ? { ...(httpResponse !== undefined && { httpResponse }) } : {}
  const { origin, ask } = await setUp(t, empty)
  for (const path of ['/', '/both']) assert.equal((await ask({ path })).status, 200)
  assert.equal(origin.seen.length, 2)
})

test('it is told who the client is by its certificate, and where it came to', async (t) => {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, () => ({}))
  const { dir, authority } = useTlsFiles(t, ['a.test'])
  const tls = { cert: 'a.test.crt', key: 'a.test.key', root: 'ca.crt' }
  const route = routeTo(origin, { extAuth: { backendRef: { host: authorizer.host } } })
  const gateway = await useGateway(t, httpConfig([route], { listener: { protocol: 'HTTPS', tls } }), { dir })
  const names = ['spiffe://example.test/ns/shop/sa/cart']
  const { cert, key } = authority.issue({ commonName: 'cart', names })
  const options = { ca: authority.cert, servername: 'a.test', cert, key }
  assert.equal((await requestTls(gateway.port(), options)).status, 200)
  const { source, destination } = authorizer.seen[0]?.attributes ?? {}
  assert.equal(source?.principal, names[0])
  assert.equal(addressOf(destination), `127.0.0.1:${gateway.port()}`)
})

test('behind another proxy, the client came to where that proxy says', async (t) => {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, () => ({}))
  const frontend = { proxyProtocol: { version: 'V1' } }
  const route = routeTo(origin, { extAuth: { backendRef: { host: authorizer.host } } })
  const gateway = await useGateway(t, httpConfig([route], { frontend }))
  const sent = 'PROXY TCP4 192.0.2.1 192.0.2.9 4000 443\r\nGET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n'
  assert.equal((await sendRaw(gateway.port(), sent)).status, 200)
  const { source, destination } = authorizer.seen[0]?.attributes ?? {}
  assert.deepEqual([addressOf(source), addressOf(destination)], ['192.0.2.1:4000', '192.0.2.9:443'])
  assert.equal(source?.principal, '')
})

test('it gets metadata of the config, or the claims of the client', async (t) => {
  const requestMetadata = { who: '{"host": request.host}', plain: '42', broken: 'request.headers["x-absent"]' }
  const { authorizer, ask } = await setUp(t, () => ({}), { grpc: { requestMetadata } })
  assert.equal((await ask()).status, 200)
  const given = authorizer.seen[0]?.attributes?.metadataContext?.filterMetadata
  assert.deepEqual(
    [...(given?.entries() ?? [])],
    [
      ['who', { host: 'test.example' }],
      ['plain', { value: 42 }],
    ],
  )
})

test('it gets as much of the body as it may, and the backend all of it', async (t) => {
  const { origin, authorizer, ask } = await setUp(t, () => ({}), { forwardBody: { maxSize: 10 } })
  for (const body of ['short', 'x'.repeat(100_000), '']) {
    assert.equal((await ask({ method: 'POST', body })).status, 200)
    assert.equal(origin.seen.at(-1)?.body, body)
    const http = authorizer.seen.at(-1)?.attributes?.request?.http
    assert.equal(http?.body, body.slice(0, 10))
    const mark = body === '' ? undefined : String(body.length > 10)
    assert.equal(http?.headers.get('x-envoy-auth-partial-body'), mark)
  }
})

test('bytes that are no text go as bytes', async (t) => {
  const { authorizer, gateway } = await setUp(t, () => ({}), { forwardBody: {} })
  const body = Buffer.from([0xff, 0xfe, 0])
  const head = `POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`
  assert.equal((await sendRaw(gateway.port(), Buffer.concat([Buffer.from(head), body]))).status, 200)
  const http = authorizer.seen[0]?.attributes?.request?.http
  // For authorizers that read the text alone, as Envoy has it.
  assert.equal(http?.body, '!!\x00')
  assert.deepEqual(Buffer.from(http?.rawBody ?? []), body)
})

test('a failed call to the authorizer denies every request, or none', async (t) => {
  const origin = await useOrigin(t)
  const silent = await useTcpServer(t, () => {})
  const banner = await useTcpServer(t, (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'))
  const broken = await useAuthorizer(t, () => Promise.reject(new Error('broken')))
  const hosts = [`127.0.0.1:${await closedPort()}`, silent.host, banner.host, broken.host]
  for (const host of hosts) {
    for (const [failureMode, expected] of [
      ['FailClosed', 403],
      ['FailOpen', 200],
      [undefined, 403],
    ] as const) {
      const extAuth = { backendRef: { host }, timeout: '100ms', ...(failureMode && { failureMode }) }
      const gateway = await useGateway(t, httpConfig([routeTo(origin, { extAuth })]))
      const answer = await request(gateway.port())
      assert.equal(answer.status, expected, `${host} ${failureMode}`)
      if (expected === 403) assert.equal(answer.body, 'external authorization failed')
      await gateway.finished(1)
      assert.equal(gateway.records[0]?.reason, expected === 403 ? 'ExtAuth' : 'Upstream')
    }
  }
})

test('routes beside one whose authorizer hangs go on', async (t) => {
  const origin = await useOrigin(t)
  const silent = await useTcpServer(t, () => {})
  const slow = routeTo(
    origin,
    { extAuth: { backendRef: { host: silent.host }, timeout: '30s' } },
    { matches: [{ path: { pathPrefix: '/slow' } }] },
  )
  const gateway = await useGateway(t, httpConfig([slow, routeTo(origin)]))
  const waiting = request(gateway.port(), { path: '/slow' })
  for (let i = 0; i < 20; i++) assert.equal((await request(gateway.port(), { path: '/quick' })).status, 200)
  for (const socket of silent.sockets) socket.destroy()
  assert.equal((await waiting).status, 403)
})

test('policies of the backend hold for the calls: its credential is shown to the authorizer', async (t) => {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, () => ({}))
  const backends = [
    {
      name: 'judge',
      static: { host: '127.0.0.1', port: Number(authorizer.host.split(':')[1]) },
      policies: { auth: { key: 'key-of-the-judge' } },
    },
  ]
  const extAuth = { backendRef: { name: 'judge' } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extAuth })], { backends }))
  assert.equal((await request(gateway.port(), { headers: { authorization: 'Bearer client' } })).status, 200)
  assert.equal(authorizer.metadata[0]?.['authorization'], 'Bearer key-of-the-judge')
  assert.equal(authorizer.seen[0]?.attributes?.request?.http?.headers.get('authorization'), 'Bearer client')
  assert.equal(origin.seen[0]?.headers['authorization'], 'Bearer client')
})

test('a condition chooses the authorizer', async (t) => {
  const origin = await useOrigin(t)
  const [yes, no] = [await useAuthorizer(t, () => ({})), await useAuthorizer(t, () => NO)]
  const conditional = [
    { condition: 'request.path.startsWith("/open")', policy: { backendRef: { host: yes.host } } },
    { condition: 'request.path.startsWith("/closed")', policy: { backendRef: { host: no.host } } },
  ]
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extAuth: { conditional } })]))
  const status = async (path: string) => (await request(gateway.port(), { path })).status
  assert.deepEqual([await status('/open'), await status('/closed'), await status('/else')], [200, 403, 200])
  assert.deepEqual([yes.seen.length, no.seen.length], [1, 1])
})

test('one before routing may change the path, and routes are chosen by it', async (t) => {
  const origin = await useOrigin(t)
  const authorizer = await useAuthorizer(t, () => ok({ headers: [option('x-tenant', 'b')] }))
  const preRouting = { extAuth: { backendRef: { host: authorizer.host } } }
  const byTenant = (tenant: string, body: string) => ({
    matches: [{ headers: [{ name: 'x-tenant', value: { exact: tenant } }] }],
    policies: { directResponse: { status: 200, body } },
  })
  const gateway = await useGateway(
    t,
    httpConfig([byTenant('a', 'for a'), byTenant('b', 'for b'), routeTo(origin)], {
      listener: { policies: { phase: 'PreRouting', ...preRouting } },
    }),
  )
  assert.equal((await request(gateway.port(), { headers: { 'x-tenant': 'a' } })).body, 'for b')
})

test('decisions are kept as long as the config says, by what it says they depend on', async (t) => {
  const origin = await useOrigin(t)
  const time = { now: 1_000 }
  const answers: Record<string, ReturnType<typeof ok>> = {
    ann: ok({ headers: [option('x-team', 'red')], queryParametersToSet: [{ key: 'by', value: 'judge' }] }),
    bob: denied({ status: { code: 402 }, headers: [option('x-why', 'pay')], body: 'pay first' }),
  }
  const authorizer = await useAuthorizer(t, ({ attributes }) => {
    const user = attributes?.request?.http?.headers.get('x-user') ?? ''
    if (user === 'eve') throw new Error('broken')
    return answers[user] ?? {}
  })
  const cache = { key: ['request.headers["x-user"]', 'request.method'], ttl: '10s', maxEntries: 3 }
  const extAuth = { backendRef: { host: authorizer.host }, cache }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extAuth })]), { monotonic: () => time.now })
  const send = (user: string | null, path = '/', method = 'GET') =>
    request(gateway.port(), { path, method, headers: user === null ? {} : { 'x-user': user } })
  for (const path of ['/a', '/b?c=1']) {
    assert.equal((await send('ann', path)).status, 200)
    assert.equal(origin.seen.at(-1)?.headers['x-team'], 'red')
  }
  assert.equal(origin.seen.at(-1)?.url, '/b?c=1&by=judge')
  for (let i = 0; i < 3; i++) {
    const refused = await send('bob')
    assert.deepEqual([refused.status, refused.body, refused.headers['x-why']], [402, 'pay first', 'pay'])
  }
  assert.equal(authorizer.seen.length, 2)
  assert.equal((await send('ann', '/a', 'PUT')).status, 200)
  assert.equal(authorizer.seen.length, 3)
  // No key, and no decision: asked each time.
  for (let i = 0; i < 2; i++) assert.equal((await send(null)).status, 200)
  for (let i = 0; i < 2; i++) assert.equal((await send('eve')).status, 403)
  assert.equal(authorizer.seen.length, 7)
  // The cache holds three entries, and has dropped the least recently used one.
  await send('bob')
  await send('carl')
  assert.equal(authorizer.seen.length, 8)
  await send('ann', '/a')
  assert.equal(authorizer.seen.length, 9)
  time.now += 10_000
  await send('carl')
  assert.equal(authorizer.seen.length, 10)
})

test('a refusal that says what its body is keeps that, and an empty one says nothing', async (t) => {
  const check: Check = ({ attributes }) =>
    attributes?.request?.http?.path === '/empty'
      ? denied({ status: { code: 401 } })
      : denied({ headers: [option('content-type', 'application/json')], body: '{}' })
  const { ask } = await setUp(t, check)
  assert.equal((await ask()).headers['content-type'], 'application/json')
  assert.equal((await ask({ path: '/empty' })).headers['content-type'], undefined)
})

test('a request without a body is not marked as whole or partial', async (t) => {
  const { authorizer, ask } = await setUp(t, () => ({}), { forwardBody: { maxSize: 4 } })
  const said = async (options: object) => {
    await ask(options)
    return authorizer.seen.at(-1)?.attributes?.request?.http?.headers.get('x-envoy-auth-partial-body')
  }
  assert.equal(await said({}), undefined)
  for (const name of ['x-envoy-auth-partial-body', 'X-Envoy-Auth-Partial-Body']) {
    assert.equal(await said({ headers: { [name]: 'false' } }), undefined, `${name} of a client`)
  }
  await said({ headers: { x_envoy_auth_partial_body: 'false' } })
  assert.equal(authorizer.seen.at(-1)?.attributes?.request?.http?.headers.get('x_envoy_auth_partial_body'), undefined)
  assert.equal(await said({ method: 'POST', body: 'abcd' }), 'false')
  assert.equal(await said({ method: 'POST', body: 'abcde' }), 'true')
})

function addressOf(peer: NonNullable<CheckRequest['attributes']>['source']): string {
  const address = peer?.address?.address
  return address?.$case === 'socketAddress' ? `${address.value.address}:${address.value.portSpecifier?.value}` : 'none'
}

test('headers for the client are added: two cookies stay two', async (t) => {
  const { ask } = await setUp(t, () =>
    ok({
      responseHeadersToAdd: [
        option('set-cookie', 'a=1'),
        option('set-cookie', 'b=2'),
        option('x-one', 'first', { append: false }),
        option('x-one', 'second', { append: false }),
      ],
    }),
  )
  const answer = await ask()
  assert.deepEqual(answer.text.match(/^set-cookie: .*$/gim), ['set-cookie: a=1', 'set-cookie: b=2'])
  assert.equal(answer.headers['x-one'], 'second')
})

test('a header that is both set and removed is removed, and a look-alike with it', async (t) => {
  const { origin, ask } = await setUp(t, () => ok({ headers: [option('x-user', 'ann')], headersToRemove: ['X-User'] }))
  await ask({ headers: { 'x-user': 'mallory', x_user: 'mallory' } })
  assert.deepEqual([origin.seen[0]?.headers['x-user'], origin.seen[0]?.headers['x_user']], [undefined, undefined])
})

test('bytes of a header value stay as they are, UTF-8 or not', async (t) => {
  const { origin, ask } = await setUp(t, () =>
    ok({
      headers: [bytesOption('x-latin', [0x5a, 0xe9]), bytesOption('x-utf8', [0xc3, 0xab]), option('x-text', 'ë')],
      responseHeadersToAdd: [bytesOption('x-latin', [0x5a, 0xe9])],
    }),
  )
  const answer = await ask()
  assert.equal(answer.headers['x-latin'], 'Z\xe9')
  const { headers = {} } = origin.seen[0] ?? {}
  assert.deepEqual([headers['x-latin'], headers['x-utf8'], headers['x-text']], ['Z\xe9', '\xc3\xab', '\xc3\xab'])
})
