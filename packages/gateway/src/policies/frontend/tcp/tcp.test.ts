import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, useGateway } from '../../../testing/scene.ts'

const routes = [{ policies: { directResponse: { status: 200 } } }]

/** The keepalive settings that sockets get while `act` runs; the kernel does not tell them afterwards. */
async function keepaliveDuring(act: () => Promise<unknown>): Promise<unknown[][]> {
  const calls: unknown[][] = []
  const original = Socket.prototype.setKeepAlive
  Socket.prototype.setKeepAlive = function (this: Socket, ...args: unknown[]): Socket {
    calls.push(args)
    return original.apply(this, args as Parameters<typeof original>)
  }
  try {
    await act()
  } finally {
    Socket.prototype.setKeepAlive = original
  }
  return calls
}

test('connections of clients are probed', async (t) => {
  const keepalive = { time: '30s', interval: '5s', retries: 3 }
  const gateway = await useGateway(t, httpConfig(routes, { frontend: { tcp: { keepalive } } }))
  assert.deepEqual(await keepaliveDuring(() => request(gateway.port())), [[true, 30_000, 5_000, 3]])
})

test('the probes are on by default', async (t) => {
  const gateway = await useGateway(t, httpConfig(routes))
  assert.deepEqual(await keepaliveDuring(() => request(gateway.port())), [[true, 180_000, 180_000, 9]])
})
