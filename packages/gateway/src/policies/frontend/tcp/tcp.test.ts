import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { RawClient } from '../../../testing/http/http1-server.ts'
import { httpConfig, until, useGateway } from '../../../testing/scene.ts'

/** The keepalive settings of an accepted connection, recorded when they are set: the kernel does not report them. */
async function keepaliveOf(t: TestContext, frontend: object): Promise<unknown[][]> {
  const gateway = await useGateway(t, httpConfig([{ policies: { directResponse: { status: 200 } } }], { frontend }))
  const setKeepAlive = t.mock.method(Socket.prototype, 'setKeepAlive')
  await request(gateway.port())
  // Sockets of other tests in this process may set theirs too.
  const accepted = setKeepAlive.mock.calls.filter((call) => (call.this as Socket).localPort === gateway.port())
  return accepted.map((call) => call.arguments)
}

test('connections of clients are probed', async (t) => {
  const keepalive = { time: '30s', interval: '5s', retries: 3 }
  assert.deepEqual(await keepaliveOf(t, { tcp: { keepalive } }), [[true, 30_000, 5_000, 3]])
})

test('the probes are on by default', async (t) => {
  assert.deepEqual(await keepaliveOf(t, {}), [[true, 180_000, 180_000, 9]])
})

const answering = (frontend: object, listener: object = {}) =>
  httpConfig([{ policies: { directResponse: { status: 200, body: 'ok' } } }], { frontend, listener })

/** A connection that has been served once and stays, or that was turned away. */
async function visit(port: number): Promise<{ client: RawClient; isServed: boolean }> {
  const client = new RawClient(port)
  client.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const isServed = await client.until('ok').then(
    () => true,
    () => false,
  )
  return { client, isServed }
}

test('a port has no more connections than it may, and a place that is left is given again', async (t) => {
  const gateway = await useGateway(t, answering({ tcp: { maxConnections: 2 } }))
  const first = await visit(gateway.port())
  const second = await visit(gateway.port())
  const third = await visit(gateway.port())
  assert.deepEqual([first.isServed, second.isServed, third.isServed], [true, true, false])
  assert.equal(third.client.received, '')
  assert.deepEqual(gateway.refusals, ['max_connections'])
  assert.equal(gateway.connectionCount(), 2)
  first.client.socket.destroy()
  await until(() => gateway.connectionCount() === 1)
  const fourth = await visit(gateway.port())
  assert.equal(fourth.isServed, true)
  for (const { client } of [second, fourth]) client.socket.destroy()
})

test('whoever was there before a reload brought the limit counts, and is not sent away', async (t) => {
  const gateway = await useGateway(t, answering({}))
  const early = await Promise.all([1, 2, 3].map(() => visit(gateway.port())))
  await gateway.reload(JSON.stringify(answering({ tcp: { maxConnections: 3 } })))
  const late = await visit(gateway.port())
  assert.deepEqual([early.map(({ isServed }) => isServed), late.isServed], [[true, true, true], false])
  early[0]?.client.send('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await early[0]?.client.until(/ok[^]*ok/)
  await gateway.reload(JSON.stringify(answering({ tcp: { maxConnections: 4 } })))
  const next = await visit(gateway.port())
  assert.equal(next.isServed, true)
  await gateway.reload(JSON.stringify(answering({})))
  const unlimited = await visit(gateway.port())
  assert.equal(unlimited.isServed, true)
  for (const { client } of [...early, next, unlimited]) client.socket.destroy()
})

test('connections that were refused, or never spoke, take no place once they are gone', async (t) => {
  const gateway = await useGateway(t, answering({ tcp: { maxConnections: 1 }, proxyProtocol: { mode: 'Strict' } }))
  for (let i = 0; i < 3; i++) {
    const client = new RawClient(gateway.port())
    if (i > 0) client.send('no header\r\n')
    else client.socket.end()
    await client.all()
    client.socket.destroy()
    await until(() => gateway.connectionCount() === 0)
  }
  assert.deepEqual(gateway.refusals, ['bad_proxy_header', 'bad_proxy_header'])
})

test('a limit is at least one', async (t) => {
  await assert.rejects(useGateway(t, answering({ tcp: { maxConnections: 0 } })), /an integer from 1 to/)
})
