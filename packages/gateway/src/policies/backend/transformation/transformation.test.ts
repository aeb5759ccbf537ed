import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import type { OriginHandler } from '../../../testing/origin.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin } from '../../../testing/scene.ts'

/** One route to one backend with that transformation. */
async function setUp(t: TestContext, transformation: object, handler?: OriginHandler, policies: object = {}) {
  const origin = await useOrigin(t, handler)
  const backend = { transformation, ...(policies as { backend?: object }).backend }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { ...policies, backend })]))
  return { origin, gateway, port: gateway.port() }
}

function fields(expressions: Record<string, string>): { name: string; value: string }[] {
  return Object.entries(expressions).map(([name, value]) => ({ name, value }))
}

/** Answers 503 the given number of times, then 200. */
function failing(times: number): OriginHandler {
  let left = times
  return (_seen, response) => response.writeHead(left-- > 0 ? 503 : 200).end('done')
}

test('changes what the backend gets and what it answers', async (t) => {
  const { port, origin } = await setUp(t, {
    request: {
      set: fields({
        ':method': '"PUT"',
        ':path': '"/v2" + request.pathAndQuery',
        host: '"inner.test"',
        'x-set': '"1"',
      }),
      add: fields({ 'x-add': '"b"' }),
      remove: ['x-gone'],
      body: '"<" + string(request.body) + ">"',
    },
    response: {
      set: fields({ ':status': '202', 'x-code': 'response.code' }),
      body: 'string(response.body).upperAscii()',
    },
  })
  const headers = { 'x-set': 'mine', 'x-add': 'a', 'x-gone': '1' }
  const response = await request(port, { method: 'POST', path: '/a?b', body: 'hello', headers })
  const seen = origin.seen[0]!
  assert.equal(`${seen.method} ${seen.url} ${seen.headers.host}`, 'PUT /v2/a?b inner.test')
  assert.equal(seen.headers['x-set'], '1')
  assert.equal(seen.headers['x-add'], 'a, b')
  assert.equal(seen.headers['x-gone'], undefined)
  assert.equal(seen.body, '<hello>')
  assert.equal(seen.headers['content-length'], '7')
  assert.equal(response.status, 202)
  assert.equal(response.headers['x-code'], '202')
  assert.equal(response.body, 'OK')
})

test('expressions see the backend, and the request as the route left it', async (t) => {
  const [a, b] = [await useOrigin(t), await useOrigin(t)]
  const transformation = {
    request: {
      set: fields({
        'x-backend': 'backend.name + " " + backend.type + " " + backend.protocol',
        'x-first': '"new"',
        'x-second': 'default(request.headers["x-first"], "none")',
        'x-route': 'request.headers["x-route"] + "!"',
      }),
    },
    response: { set: fields({ 'x-backend': 'backend.name' }) },
  }
  const config = httpConfig(
    [
      {
        policies: { transformation: { request: { set: fields({ 'x-route': '"r"' }) } } },
        backends: [
          { backend: 'a', weight: 1 },
          { backend: 'b', weight: 1, policies: {} },
        ],
      },
    ],
    {
      backends: [
        { name: 'a', static: { host: '127.0.0.1', port: a.port }, policies: { transformation } },
        { name: 'b', static: { host: '127.0.0.1', port: b.port } },
      ],
    },
  )
  let number = 0
  const gateway = await useGateway(t, config, { random: () => (number++ % 2) / 2 })
  const first = await request(gateway.port())
  const second = await request(gateway.port())
  assert.equal(a.seen[0]!.headers['x-backend'], 'a static http')
  assert.equal(a.seen[0]!.headers['x-second'], 'none')
  assert.equal(a.seen[0]!.headers['x-route'], 'r!')
  assert.equal(first.headers['x-backend'], 'a')
  // Another backend of the same route is left alone, and so is its response.
  assert.equal(b.seen[0]!.headers['x-backend'], undefined)
  assert.equal(b.seen[0]!.headers['x-route'], 'r')
  assert.equal(second.headers['x-backend'], undefined)
})

test('each attempt starts again from the request', async (t) => {
  const { port, origin } = await setUp(
    t,
    {
      request: {
        add: fields({ 'x-add': 'string(request.path)' }),
        set: fields({ ':path': 'request.path + "/more"', 'x-try': 'default(request.headers["x-retry-attempt"], "0")' }),
        body: 'string(request.body) + "!"',
      },
      response: { add: fields({ 'x-add': '"once"' }) },
    },
    failing(2),
    { retry: { attempts: 2, codes: [503] } },
  )
  const { status, headers } = await request(port, { method: 'POST', path: '/a', body: 'hello' })
  assert.equal(status, 200)
  assert.equal(headers['x-add'], 'once')
  assert.deepEqual(
    origin.seen.map((seen) => [seen.url, seen.headers['x-add'], seen.headers['x-try'], seen.body]),
    [
      ['/a/more', '/a', '0', 'hello!'],
      ['/a/more', '/a', '1', 'hello!'],
      ['/a/more', '/a', '2', 'hello!'],
    ],
  )
})

test('a method that must not be sent twice is not, whatever the client sent', async (t) => {
  let calls = 0
  const origin = await useOrigin(t, (_seen, response) => {
    calls++
    response.socket!.destroy()
  })
  const transformation = { request: { set: fields({ ':method': '"POST"' }) } }
  const policies = { retry: { attempts: 3 }, backend: { transformation } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  assert.equal((await request(gateway.port())).status, 503)
  assert.equal(calls, 1)
})

test('the response part is for responses of the backend, not for errors of the gateway', async (t) => {
  const backend = { host: `127.0.0.1:${await closedPort()}` }
  const transformation = { response: { set: fields({ 'x-a': '"1"' }) } }
  const gateway = await useGateway(t, httpConfig([routeTo(backend, { backend: { transformation } })]))
  const { status, headers } = await request(gateway.port())
  assert.equal(status, 503)
  assert.equal(headers['x-a'], undefined)
})

test('it comes before the response part of the route', async (t) => {
  const transformation = { response: { set: fields({ 'x-a': 'response.headers["x-a"] + ",backend"' }) } }
  const { port } = await setUp(t, transformation, (_seen, response) => response.setHeader('x-a', 'origin').end(), {
    transformation: { response: { set: fields({ 'x-a': 'response.headers["x-a"] + ",route"' }) } },
  })
  assert.equal((await request(port)).headers['x-a'], 'origin,backend,route')
})

test('it comes after auth, and cannot read the credential that auth added', async (t) => {
  const { port, origin, gateway } = await setUp(
    t,
    {
      request: {
        set: fields({
          'x-mine': 'request.headers["authorization"]',
          'x-leak': 'request.headers.raw()["x-key"]',
          authorization: '"Bearer replaced"',
        }),
      },
    },
    undefined,
    { backend: { auth: { key: 'backend-key' } } },
  )
  await request(port, { headers: { authorization: 'Bearer client' } })
  const seen = origin.seen[0]!.headers
  assert.equal(seen['x-mine'], 'Bearer client')
  assert.equal(seen['x-leak'], undefined)
  assert.equal(seen.authorization, 'Bearer replaced')
  const watched = gateway.trace()
  await request(port)
  const kinds = (await watched)
    .filter(({ message }) => message['phase'] === 'backend')
    .map(({ message }) => message['kind'])
  assert.deepEqual(kinds, ['auth', 'transformation'])
})

test('a mirror gets the request as the route left it', async (t) => {
  const mirror = await useOrigin(t)
  const { port, origin } = await setUp(
    t,
    { request: { set: fields({ ':path': '"/changed"' }), body: 'string(request.body) + "!"' } },
    undefined,
    { requestMirror: { backend: mirror.host } },
  )
  await request(port, { method: 'POST', path: '/a', body: 'hello' })
  await until(() => mirror.seen.length === 1)
  assert.equal(`${origin.seen[0]!.url} ${origin.seen[0]!.body}`, '/changed hello!')
  assert.equal(`${mirror.seen[0]!.url} ${mirror.seen[0]!.body}`, '/a hello')
})

test('a body that is replaced unread leaves the connection in order', async (t) => {
  const { port, origin, gateway } = await setUp(t, { request: { body: '"new"' } }, undefined, {
    retry: { attempts: 1, codes: [503] },
  })
  for (let i = 0; i < 3; i++) await request(port, { method: 'POST', body: 'GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n' })
  assert.deepEqual(
    origin.seen.map(({ url, body }) => `${url} ${body}`),
    ['/ new', '/ new', '/ new'],
  )
  await gateway.finished(3)
  assert.deepEqual(gateway.bugs, [])
})

test('an unusable transformation is rejected at load', async (t) => {
  await assert.rejects(setUp(t, { request: { set: fields({ 'x-a': 'response.code' }) } }), /unknown variable/)
  await assert.rejects(setUp(t, { conditional: [] }), /conditional/)
  await assert.rejects(setUp(t, { request: { set: fields({ 'content-length': '"1"' }) } }), /content-length|name/)
})
