import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { exchangeRaw, request, sendRaw } from '../../../testing/client.ts'
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

test('a request that passes is kept with where it went and how long it took, and nothing else', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, {}, { name: 'shop' })]))
  const before = Date.now()
  await request(gateway.port(), { method: 'POST', path: '/orders?page=2', body: 'five!' })
  await gateway.finished(1)
  const [record, ...others] = gateway.recorded()
  assert.ok(record !== undefined && others.length === 0)
  assert.match(record.id, /^[0-9a-z]{15}$/)
  assert.ok(record.at >= before - 1 && record.at <= Date.now(), String(record.at))
  assert.ok(record.took > 0 && record.answeredAfter !== null && record.answeredAfter <= record.took)
  const { method, host, path, version, status, outcome, reason, route, endpoint, attempts, generation, worker } = record
  assert.deepEqual(
    { method, host, path, version, status, outcome, reason, route, endpoint, attempts, generation, worker },
    {
      method: 'POST',
      host: 'test.example',
      path: '/orders?page=2',
      version: 'HTTP/1.1',
      status: 200,
      outcome: 'passed',
      reason: null,
      route: 'shop',
      endpoint: origin.host,
      attempts: 1,
      generation: 1,
      worker: 'worker-0',
    },
  )
  assert.equal(record.bytesIn, 5)
  assert.ok(record.bytesOut > 0)
  assert.deepEqual([record.steps, record.calls, record.requestHeaders, record.variables], [null, null, null, null])
})

test('a refusal says which step stopped the request, by what, and what had passed before it', async (t) => {
  const origin = await useOrigin(t)
  const policies = {
    cors: { allowOrigins: ['https://app.example'] },
    rateLimit: { local: [{ requests: 1, unit: 'Hours' }] },
    headerModifiers: { request: { set: [{ name: 'x-one', value: '1' }] } },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies, { name: 'limited' })]))
  await request(gateway.port())
  await request(gateway.port(), { headers: { 'user-agent': 'curl/8' } })
  await gateway.finished(2)
  const [record] = gateway.recorded()
  assert.equal(record?.outcome, 'limited')
  assert.equal(record.status, 429)
  assert.deepEqual(
    { ...record.reason, values: null },
    { kind: 'RateLimit', policy: 'rateLimit', phase: 'route', code: 'rate_limited', values: null },
  )
  assert.equal(record.reason?.values['remaining'], 0)
  assert.equal(typeof record.reason.values['resetSeconds'], 'number')
  assert.deepEqual(
    record.steps?.map(({ step, outcome }) => [step, outcome]),
    [
      ['cors', 'passed'],
      ['rateLimit', 'stopped'],
      ['headerModifiers', 'notReached'],
      ['rateLimit', 'passed'],
      ['cors', 'passed'],
    ],
  )
  assert.equal(record.requestHeaders?.['user-agent'], 'curl/8')
  assert.equal(record.responseHeaders?.['x-ratelimit-remaining'], '0')
  assert.deepEqual(record.calls, [])
})

test('rules that denied a request are kept with what each of them gave', async (t) => {
  const origin = await useOrigin(t)
  const rules = [{ allow: 'request.method == "PUT"' }, { deny: 'request.headers["x-bad"] == "1"' }]
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { authorization: { rules } })]))
  await request(gateway.port())
  await gateway.finished(1)
  const [record] = gateway.recorded()
  assert.equal(record?.outcome, 'denied')
  assert.equal(record.reason?.code, 'authorization_denied')
  const told = record.reason.values['rules'] as { name: string; mode: string; matched: boolean }[]
  assert.deepEqual(
    told.map(({ name, mode, matched }) => [name, mode, matched]),
    [
      ['request.method == "PUT"', 'allow', false],
      ['request.headers["x-bad"] == "1"', 'deny', false],
    ],
  )
})

test('a request without a route, and a message that is none, have records', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, {}, pathPrefix('/only'))]))
  await request(gateway.port(), { path: '/elsewhere' })
  await gateway.finished(1)
  assert.deepEqual(
    [gateway.recorded()[0]?.outcome, gateway.recorded()[0]?.reason?.code, gateway.recorded()[0]?.route],
    ['denied', 'route_not_found', null],
  )
  await sendRaw(gateway.port(), 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')
  await gateway.finished(2)
  const malformed = gateway.recorded().find(({ method }) => method === null)
  assert.deepEqual([malformed?.status, malformed?.reason?.kind, malformed?.outcome], [400, 'InvalidRequest', 'denied'])
})

test('calls that failed stand before the one that was answered', async (t) => {
  const origin = await useOrigin(t)
  let calls = 0
  const flaky = await useOrigin(t, (_seen, response) => {
    response.writeHead(calls++ === 0 ? 503 : 200)
    response.end()
  })
  const dead = `127.0.0.1:${await closedPort()}`
  const retry = { retry: { attempts: 2, codes: [503] } }
  const gateway = await useGateway(
    t,
    httpConfig(
      [
        routeTo(flaky, retry, pathPrefix('/flaky')),
        routeTo({ host: dead }, retry, pathPrefix('/dead')),
        routeTo(origin, {}, pathPrefix('/')),
      ],
      { frontend: { recorder: { sampling: 'request.path == "/flaky"' } } },
    ),
  )
  await request(gateway.port(), { path: '/flaky' })
  await request(gateway.port(), { path: '/dead' })
  await gateway.finished(2)
  const byPath = new Map(gateway.recorded().map((record) => [record.path, record]))
  const retried = byPath.get('/flaky')
  assert.deepEqual([retried?.outcome, retried?.isSampled, retried?.attempts], ['passed', true, 2])
  assert.deepEqual(
    retried?.calls?.map(({ target, status, error }) => [target, status, error]),
    [
      [flaky.host, 503, null],
      [flaky.host, 200, null],
    ],
  )
  const failed = byPath.get('/dead')
  assert.deepEqual([failed?.outcome, failed?.reason?.code, failed?.attempts], ['failed', 'connect_failed', 3])
  assert.equal(failed?.calls?.length, 3)
  for (const call of failed.calls) assert.match(call.error ?? '', /^connect_failed: /)
})

test('credentials are hidden before anything is stored', async (t) => {
  const origin = await useOrigin(t)
  const marker = 'mArKeR'
  const location = { header: { name: 'x-team-pass' } }
  const policies = {
    apiKeyAuthentication: { mode: 'Strict', location, secretRef: { data: { one: { key: 'right-and-long' } } } },
  }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, policies)], { frontend: { recorder: { sampling: 'true' } } }),
  )
  await request(gateway.port(), {
    path: `/a;token=${marker}?api_key=${marker}&x-team-pass=${marker}&plain=1&u=%3Faccess_token%3D${marker}`,
    headers: {
      authorization: `Bearer ${marker}`,
      cookie: `session=${marker}`,
      'x-team-pass': `wrong-${marker}`,
      'x-vendor-key': marker,
      referer: `https://user:${marker}@example.com/?code=${marker}`,
      'x-note': `eyJ${marker}.eyJ${marker}.${marker}`,
    },
  })
  await gateway.finished(1)
  const [record] = gateway.recorded()
  assert.equal(record?.outcome, 'denied')
  assert.equal(record.requestHeaders?.['x-team-pass'], '<redacted>')
  assert.match(record.path ?? '', /plain=1/)
  assert.doesNotMatch(JSON.stringify(record), new RegExp(marker))
  for (const ring of ['passed', 'notable'] as const) {
    const memory = gateway.store.memoryFor('worker-0')?.[ring]
    assert.ok(memory !== undefined)
    assert.equal(Buffer.from(memory).includes(marker), false, ring)
  }
})

test('a flood of good requests does not push out what went wrong, and memory stays what it is', async (t) => {
  const origin = await useOrigin(t)
  const recorder = { passedSize: '64Ki', notableSize: '64Ki' }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, {}, pathPrefix('/good'))], { frontend: { recorder } }),
  )
  await request(gateway.port(), { path: '/bad' })
  for (let i = 0; i < 40; i++) {
    const requests = Array.from({ length: 20 }, (_, n) => `GET /good/${i}/${n} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')
    let answers = 0
    await exchangeRaw(gateway.port(), requests, (text) => (answers = text.split('HTTP/1.1 200').length - 1) >= 20)
    assert.equal(answers, 20)
  }
  await gateway.finished(801)
  const records = gateway.recorded()
  assert.ok(records.length < 801 && records.length > 100, String(records.length))
  assert.equal(records.filter(({ path }) => path === '/bad').length, 1)
  const { bytes, maxBytes } = gateway.store.use
  assert.equal(maxBytes, 2 * 64 * 1024)
  assert.ok(bytes <= maxBytes)
  // The bar of a plain request.
  assert.ok(bytes / records.length <= 300, String(bytes / records.length))
})

test('records stay over reloads, with the generation that they belong to; off keeps nothing', async (t) => {
  const origin = await useOrigin(t)
  const config = (recorder: object) => JSON.stringify(httpConfig([routeTo(origin)], { frontend: { recorder } }))
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  await request(gateway.port(), { path: '/one' })
  await gateway.reload(config({ slow: '1ms' }))
  await request(gateway.port(), { path: '/two' })
  await gateway.reload(config({ passedSize: '64Ki' }))
  await request(gateway.port(), { path: '/three' })
  await gateway.reload(config({ enabled: false }))
  await request(gateway.port(), { path: '/four' })
  await gateway.finished(4)
  const told = gateway.recorded().map(({ path, generation }) => `${path} ${generation}`)
  assert.deepEqual(new Set(told), new Set(['/one 1', '/two 2', '/three 3']))
})

test('slow is about the answer of the backend, and has heads and steps', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => {
    setTimeout(() => response.end('late'), 30)
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend: { recorder: { slow: '20ms' } } }))
  await request(gateway.port())
  await gateway.finished(1)
  const [record] = gateway.recorded()
  assert.deepEqual([record?.outcome, record?.isSlow, record?.status], ['slow', true, 200])
  assert.deepEqual(record?.requestHeaders, {})
  assert.equal(record?.afterPolicies?.headers?.['x-forwarded-proto'], 'http')
  assert.deepEqual(record?.steps, [])
})

test('heads are kept as they came, with what policies made of them, and without credentials in both', async (t) => {
  const origin = await useOrigin(t)
  const policies = {
    apiKeyAuthentication: {
      location: { header: { name: 'x-team-pass' } },
      secretRef: { data: { one: { key: 'right-and-long' } } },
    },
    headerModifiers: { request: { set: [{ name: 'x-env', value: 'live' }], remove: ['x-debug'] } },
    urlRewrite: { path: { prefix: '/v2' } },
  }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, policies, pathPrefix('/v1'))], { frontend: { recorder: { sampling: 'true' } } }),
  )
  const headers = { 'x-team-pass': 'right-and-long', 'X-Env': 'test', 'x-debug': '1', accept: '*/*' }
  await request(gateway.port(), { path: '/v1/a?b=1', headers })
  await gateway.finished(1)
  const [record] = gateway.recorded()
  const picked = (found: object | null | undefined): unknown[] =>
    ['x-team-pass', 'x-env', 'x-debug', 'accept', 'x-forwarded-proto'].map((name) => Object(found)[name])
  assert.deepEqual(picked(record?.requestHeaders), ['<redacted>', 'test', '1', '*/*', undefined])
  assert.deepEqual(picked(record?.afterPolicies?.headers), [undefined, 'live', undefined, '*/*', 'http'])
  assert.deepEqual([record?.path, record?.afterPolicies?.path], ['/v1/a?b=1', '/v2/a?b=1'])
  const memory = gateway.store.memoryFor('worker-0')?.notable
  assert.equal(memory !== undefined && Buffer.from(memory).includes('right-and-long'), false)
})

test('a version that no client should use is refused, and no failure', async (t) => {
  const origin = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  await sendRaw(gateway.port(), 'GET / HTTP/9.9\r\nHost: a\r\n\r\n')
  await gateway.finished(1)
  const told = gateway.recorded().map(({ status, outcome }) => `${status} ${outcome}`)
  assert.deepEqual(told, ['505 denied'])
})

test('connections that are refused before a request have records, as many as do not push out others', async (t) => {
  const origin = await useOrigin(t)
  const frontend = { networkAuthorization: { rules: [{ deny: 'source.address == "127.0.0.1"' }] } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin)], { frontend }), { clock: () => 1_000_000 })
  for (let i = 0; i < 60; i++) await exchangeRaw(gateway.port(), 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', () => false)
  const records = gateway.recorded()
  // In one second.
  assert.equal(records.length, 50)
  const { outcome, status, protocol, reason, source, method } = records[0] ?? assert.fail('no record')
  assert.deepEqual([outcome, status, protocol, method], ['denied', 0, 'tcp', null])
  assert.deepEqual([reason?.policy, reason?.code], ['networkAuthorization', 'network_authorization'])
  assert.match(source ?? '', /^127\.0\.0\.1:\d+$/)
  assert.deepEqual(gateway.lines, [], 'nobody has asked for anything')
})

test('a client that leaves is aborted, a backend that breaks off has failed', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => void response.write('part'))
  const breaking = await useTcpServer(t, (socket) => {
    socket.on('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart')
      setImmediate(() => socket.destroy())
    })
  })
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(breaking, {}, pathPrefix('/broken')), routeTo(origin, {}, pathPrefix('/'))]),
  )
  const client = connect(gateway.port(), '127.0.0.1')
  client.write('GET /open HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(client, 'data')
  client.destroy()
  await gateway.finished(1)
  assert.deepEqual(
    [gateway.recorded()[0]?.outcome, gateway.recorded()[0]?.reason?.code, gateway.recorded()[0]?.status],
    ['aborted', 'client_gone', 200],
  )
  await request(gateway.port(), { path: '/broken' }).catch(() => {})
  await gateway.finished(2)
  const broken = gateway.recorded().find(({ path }) => path === '/broken')
  assert.deepEqual([broken?.outcome, broken?.reason?.kind], ['failed', 'UpstreamFailure'])
})

test('the answer that had an endpoint evicted is kept as such', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => void response.writeHead(404).end())
  const health = { unhealthyCondition: 'response.code == 404', eviction: { consecutiveFailures: 2, duration: '1m' } }
  const gateway = await useGateway(
    t,
    httpConfig([{ policies: { backend: { health } }, backends: [{ host: origin.host }] }]),
  )
  await request(gateway.port())
  await request(gateway.port())
  await gateway.finished(2)
  assert.equal(gateway.evictions.length, 1)
  assert.deepEqual(
    gateway.recorded().map(({ outcome, status }) => [outcome, status]),
    [
      ['evicted', 404],
      ['passed', 404],
    ],
  )
})

test('bodies are kept where the config asks for it, without credentials', async (t) => {
  const marker = 'mArKeR'
  const origin = await useOrigin(t, (_seen, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ ok: true, session_token: marker }))
  })
  const bodies = { when: 'proxy.route.name == "kept"', maxSize: '1Ki' }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, {}, { name: 'kept', ...pathPrefix('/kept') }), routeTo(origin, {}, { name: 'not' })], {
      frontend: { recorder: { bodies } },
    }),
  )
  const body = JSON.stringify({ item: 'apples', nested: { api_key: marker, pin: 1 }, secret: 42_424_242 })
  const post = (path: string, type: string, text: string) =>
    request(gateway.port(), { method: 'POST', path, headers: { 'content-type': type }, body: text })
  await post('/kept/json', 'application/json', body)
  await post('/kept/form', 'application/x-www-form-urlencoded', `password=${marker}&item=pears`)
  await post('/kept/long', 'application/json', `{"item":"${'x'.repeat(980)}","password":"${marker.repeat(200)}"}`)
  await post('/kept/binary', 'application/octet-stream', marker)
  await post('/kept/short', 'application/json', '7')
  await post('/other', 'application/json', body)
  await gateway.finished(6)
  const byPath = new Map(gateway.recorded().map((record) => [record.path, record]))
  const json = byPath.get('/kept/json')
  assert.deepEqual(JSON.parse(json?.requestBody?.text ?? ''), {
    item: 'apples',
    nested: { api_key: '<redacted>', pin: 1 },
    secret: '<redacted>',
  })
  assert.deepEqual(JSON.parse(json?.responseBody?.text ?? ''), { ok: true, session_token: '<redacted>' })
  assert.deepEqual([json?.outcome, json?.requestBody?.isCut], ['passed', false])
  assert.equal(byPath.get('/kept/form')?.requestBody?.text, 'password=<redacted>&item=pears')
  const long = byPath.get('/kept/long')?.requestBody
  assert.equal(long?.isCut, true)
  assert.match(long.text ?? '', /x","password":"<redacted>"$/)
  assert.deepEqual(byPath.get('/kept/binary')?.requestBody, { text: null, base64: null, isCut: true })
  assert.equal(byPath.get('/kept/short')?.requestBody?.text, '7')
  assert.equal(byPath.get('/other')?.requestBody, null)
  assert.equal(origin.seen.length, 6)
  assert.doesNotMatch(JSON.stringify(gateway.recorded()), new RegExp(marker))
  const memory = gateway.store.memoryFor('worker-0')
  assert.ok(memory !== null && !Buffer.from(memory.notable).includes(marker))
})

test('parts that do not fit are left out of a record, and the record stays', async (t) => {
  const origin = await useOrigin(t)
  const recorder = { notableSize: '64Ki' }
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, {}, pathPrefix('/only'))], { frontend: { recorder } }),
  )
  const headers = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x-long-${i}`, 'v'.repeat(200)]))
  await request(gateway.port(), { path: '/elsewhere', headers })
  await gateway.finished(1)
  const [record] = gateway.recorded()
  assert.deepEqual([record?.reason?.code, record?.requestHeaders], ['route_not_found', null])
})

test('connections without HTTP have records', async (t) => {
  const echo = await useTcpServer(t, (socket) => socket.pipe(socket))
  const dead = { host: `127.0.0.1:${await closedPort()}` }
  const bind = (host: string) => ({
    port: 0,
    listeners: [{ protocol: 'TCP', name: 'raw', routes: [{ name: 'echo', backends: [{ host }] }] }],
  })
  const gateway = await useGateway(t, { binds: [bind(echo.host), bind(dead.host)] })
  const client = connect(gateway.port(0), '127.0.0.1')
  client.write('hello')
  await once(client, 'data')
  client.end()
  await gateway.finished(1)
  const [passed] = gateway.recorded()
  assert.deepEqual(
    [passed?.protocol, passed?.outcome, passed?.bytesIn, passed?.bytesOut, passed?.listener, passed?.route],
    ['tcp', 'passed', 5, 5, 'raw', 'echo'],
  )
  const refused = connect(gateway.port(1), '127.0.0.1')
  refused.on('error', () => {})
  await once(refused, 'close')
  await until(() => gateway.recorded().length === 2)
  const failed = gateway.recorded().find(({ outcome }) => outcome === 'failed')
  assert.deepEqual([failed?.protocol, failed?.reason?.kind], ['tcp', 'UpstreamFailure'])
})

test('a TLS connection that is passed on has the server name, and no secret of what is inside', async (t) => {
  const backend = await useTcpServer(t, (socket) => socket.once('data', () => socket.end()))
  const route = { name: 'shop', hostnames: ['a.test'], backends: [{ host: backend.host }] }
  const gateway = await useGateway(t, { binds: [{ port: 0, listeners: [{ protocol: 'TLS', routes: [route] }] }] })
  for (const servername of ['a.test', 'b.test']) {
    const client = connectTls({ port: gateway.port(), host: '127.0.0.1', servername }).on('error', () => {})
    await new Promise((resolve) => client.on('close', resolve))
  }
  await gateway.finished(2)
  const byName = new Map(gateway.recorded().map((record) => [record.sni, record]))
  const passed = byName.get('a.test')
  assert.deepEqual(
    [passed?.protocol, passed?.outcome, passed?.route, passed?.endpoint, passed?.attempts, passed?.method],
    ['tls', 'passed', 'shop', backend.host, 1, null],
  )
  assert.ok((passed?.bytesIn ?? 0) > 100)
  const lost = byName.get('b.test')
  assert.deepEqual([lost?.protocol, lost?.outcome, lost?.reason?.kind], ['tls', 'denied', 'NotFound'])
})
