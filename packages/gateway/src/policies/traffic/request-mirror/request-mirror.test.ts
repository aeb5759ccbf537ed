import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'

test('a copy with the body goes to the mirror, as it goes to the backend', async (t) => {
  const origin = await useOrigin(t)
  const mirror = await useOrigin(t, (_request, response) => response.writeHead(500).end('ignored'))
  const policies = {
    requestMirror: { backend: mirror.host },
    headerModifiers: { request: { set: [{ name: 'x-team', value: 'a' }] } },
    urlRewrite: { path: { full: '/new' }, authority: { full: 'inside.test' } },
  }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const { status, body } = await request(gateway.port(), { method: 'POST', path: '/old?q=1', body: 'hello' })
  assert.equal(status, 200)
  assert.equal(body, 'ok')
  await until(() => mirror.seen.length === 1)
  for (const { method, url, headers, body: sent } of [origin.seen[0]!, mirror.seen[0]!]) {
    assert.deepEqual([method, url, headers['x-team'], sent], ['POST', '/new?q=1', 'a', 'hello'])
    assert.equal(headers.host, 'inside.test')
  }
})

test('several mirrors each get their share, with the body', async (t) => {
  const origin = await useOrigin(t)
  const mirrors = [await useOrigin(t), await useOrigin(t), await useOrigin(t)] as const
  const others = [{ backend: mirrors[1].host }, { backend: mirrors[2].host, percentage: 0 }]
  const policies = { requestMirror: { backend: mirrors[0].host, others } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, policies)]))
  const { body } = await request(gateway.port(), { method: 'POST', body: 'hello' })
  assert.equal(body, 'ok')
  await until(() => mirrors[0].seen.length === 1 && mirrors[1].seen.length === 1)
  assert.deepEqual(
    [origin, ...mirrors].map(({ seen }) => seen.map((each) => each.body)),
    [['hello'], ['hello'], ['hello'], []],
  )
})

test('credentials stay with the backend', async (t) => {
  const origin = await useOrigin(t)
  const mirror = await useOrigin(t)
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { requestMirror: { backend: mirror.host } })]))
  const headers = { authorization: 'Bearer t', cookie: 'a=b', 'proxy-authorization': 'Basic c', 'x-team': 'a' }
  await request(gateway.port(), { headers })
  await until(() => mirror.seen.length === 1)
  const copied = mirror.seen[0]!.headers
  assert.deepEqual(
    [copied.authorization, copied.cookie, copied['proxy-authorization']],
    [undefined, undefined, undefined],
  )
  assert.equal(copied['x-team'], 'a')
  assert.equal(origin.seen[0]!.headers.authorization, 'Bearer t')
  assert.equal(origin.seen[0]!.headers.cookie, 'a=b')
})

test('a percentage copies that share of the requests', async (t) => {
  const origin = await useOrigin(t)
  const mirror = await useOrigin(t)
  const draws = [0.24, 0.26, 0, 0.99, 0.25]
  const gateway = await useGateway(
    t,
    httpConfig([routeTo(origin, { requestMirror: { backend: mirror.host, percentage: 25 } })]),
    { random: () => draws.shift()! },
  )
  for (let i = 0; i < 5; i++) await request(gateway.port(), { path: `/${i}` })
  await until(() => mirror.seen.length === 2)
  assert.deepEqual(mirror.seen.map((seen) => seen.url).sort(), ['/0', '/2'])
})

test('a mirror may be a named backend with policies of its own', async (t) => {
  const origin = await useOrigin(t)
  const mirror = await useOrigin(t)
  const backends = [{ name: 'shadow', static: { host: '127.0.0.1', port: mirror.port } }]
  const routes = [routeTo(origin, { requestMirror: { backend: 'shadow' } })]
  const gateway = await useGateway(t, httpConfig(routes, { backends }))
  await request(gateway.port())
  await until(() => mirror.seen.length === 1)
})

test('a reload that changes only the policies of the mirror reaches it', async (t) => {
  const origin = await useOrigin(t)
  const mirror = await useOrigin(t)
  const config = (policies: object) => {
    const backends = [{ name: 'shadow', static: { host: '127.0.0.1', port: mirror.port }, policies }]
    return httpConfig([routeTo(origin, { requestMirror: { backend: 'shadow' } })], { backends })
  }
  const gateway = await useGateway(t, config({ tls: { insecureSkipVerify: 'All' } }))
  await request(gateway.port(), { path: '/encrypted' })
  await gateway.reload(JSON.stringify(config({})))
  await request(gateway.port(), { path: '/plain' })
  await until(() => mirror.seen.length === 1)
  assert.equal(mirror.seen[0]!.url, '/plain')
})

test('a mirror that refuses, or never answers, does not touch the answer of the backend', async (t) => {
  const origin = await useOrigin(t)
  const silent = await useTcpServer(t, (socket) => socket.pause())
  for (const host of [`127.0.0.1:${await closedPort()}`, silent.host]) {
    const gateway = await useGateway(t, httpConfig([routeTo(origin, { requestMirror: { backend: host } })]))
    const { status, body } = await request(gateway.port(), { method: 'POST', body: 'x'.repeat(3_000_000) })
    assert.equal(status, 200)
    assert.equal(body, 'ok')
    assert.equal(origin.seen.at(-1)!.body.length, 3_000_000)
    await gateway.finished(1)
    assert.deepEqual(gateway.bugs, [])
  }
})

test('the queue of a slow mirror is bounded: beyond the limit only the copy is dropped', async (t) => {
  const origin = await useOrigin(t)
  let copied = 0
  let cut = false
  const mirror = await useTcpServer(t, (socket) => {
    socket.once('readable', () => socket.read())
    socket.on('close', () => (cut = true))
    socket.pause()
  })
  const routes = [routeTo(origin, { requestMirror: { backend: mirror.host } })]
  const gateway = await useGateway(t, httpConfig(routes, { frontend: { http: { maxBufferSize: '64Ki' } } }))
  const { status } = await request(gateway.port(), { method: 'POST', body: 'x'.repeat(20_000_000) })
  assert.equal(status, 200)
  assert.equal(origin.seen[0]!.body.length, 20_000_000)
  mirror.sockets[0]!.on('data', (chunk: Buffer) => (copied += chunk.length)).resume()
  await until(() => cut)
  assert.ok(copied < 20_000_000, `${copied} bytes were copied`)
})

test('calls that a mirror never answers do not pile up', async (t) => {
  const origin = await useOrigin(t)
  const silent = await useTcpServer(t, (socket) => socket.resume())
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { requestMirror: { backend: silent.host } })]))
  const total = 300
  for (let i = 0; i < total; i += 50) {
    await Promise.all(Array.from({ length: 50 }, () => request(gateway.port())))
  }
  await until(() => silent.sockets.length === total)
  await until(() => silent.sockets.filter((socket) => !socket.destroyed).length <= 256)
})

test('a copy whose request goes nowhere is given up', async (t) => {
  const mirror = await useTcpServer(t, (socket) => socket.resume())
  const dead = { host: `127.0.0.1:${await closedPort()}` }
  for (const retry of [{}, { retry: { attempts: 1 } }]) {
    const policies = { requestMirror: { backend: mirror.host }, ...retry }
    const gateway = await useGateway(t, httpConfig([routeTo(dead, policies)]))
    const { status } = await request(gateway.port(), { method: 'POST', body: 'x'.repeat(100_000) })
    assert.equal(status, 503)
  }
  await until(() => mirror.sockets.length === 2 && mirror.sockets.every((socket) => socket.destroyed))
})
