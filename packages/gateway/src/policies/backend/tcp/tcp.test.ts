import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, routeTo, useGateway, useOrigin, useTcpServer } from '../../../testing/scene.ts'

test('connections to the backend are probed as configured', async (t) => {
  const origin = await useOrigin(t)
  const setKeepAlive = t.mock.method(Socket.prototype, 'setKeepAlive')
  const tcp = { keepalive: { time: '30s', interval: '5s', retries: 3 } }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { backend: { tcp } })]))
  await request(gateway.port())
  assert.deepEqual(setKeepAlive.mock.calls.at(-1)?.arguments, [true, 30_000, 5_000, 3])
})

test('a handshake that takes longer than connectTimeout gives 504', async (t) => {
  const silent = await useTcpServer(t, (socket) => socket.pause())
  const backend = { tls: { insecureSkipVerify: 'All' }, tcp: { connectTimeout: '100ms' } }
  const gateway = await useGateway(t, httpConfig([routeTo(silent, { backend })]))
  const { status, body } = await request(gateway.port())
  assert.equal(status, 504)
  assert.equal(body, 'upstream call timeout')
})

test('without connectTimeout the default of the process holds', async (t) => {
  const silent = await useTcpServer(t, (socket) => socket.pause())
  const policies = { backend: { tls: { insecureSkipVerify: 'All' } } }
  const gateway = await useGateway(t, httpConfig([routeTo(silent, policies)]), { connectTimeoutMs: 80 })
  assert.equal((await request(gateway.port())).status, 504)
})
