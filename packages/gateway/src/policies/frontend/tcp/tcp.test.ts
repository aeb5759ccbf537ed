import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, useGateway } from '../../../testing/scene.ts'

/** What an accepted connection is told about probes; the kernel does not tell it afterwards. */
async function keepaliveOf(t: TestContext, frontend: object): Promise<unknown[][]> {
  const gateway = await useGateway(t, httpConfig([{ policies: { directResponse: { status: 200 } } }], { frontend }))
  const setKeepAlive = t.mock.method(Socket.prototype, 'setKeepAlive')
  await request(gateway.port())
  return setKeepAlive.mock.calls.map((call) => call.arguments)
}

test('connections of clients are probed', async (t) => {
  const keepalive = { time: '30s', interval: '5s', retries: 3 }
  assert.deepEqual(await keepaliveOf(t, { tcp: { keepalive } }), [[true, 30_000, 5_000, 3]])
})

test('the probes are on by default', async (t) => {
  assert.deepEqual(await keepaliveOf(t, {}), [[true, 180_000, 180_000, 9]])
})
