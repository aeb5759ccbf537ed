import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { claimPort } from './ports.ts'
import { closedPort } from '../../testing/scene.ts'

const bind = (port: number, address = '127.0.0.1') => ({ key: `bind/${port}`, port, address })

test('a port that is free is had, and left free', async () => {
  const port = await closedPort()
  assert.deepEqual(await claimPort(bind(port)), { port })
  assert.deepEqual(await claimPort(bind(port)), { port })
})

test('port 0 becomes a real one', async () => {
  const claimed = await claimPort(bind(0))
  assert.ok('port' in claimed && claimed.port > 0)
})

for (const reusePort of [false, true]) {
  test(`a port in use is a problem that names it, ${reusePort ? 'shared' : 'alone'}`, async (t) => {
    const server = createServer().listen({ port: 0, host: '127.0.0.1', reusePort })
    t.after(() => server.close())
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    assert.deepEqual(await claimPort(bind(port)), { problem: `127.0.0.1:${port} is in use by another program` })
  })
}

test('every address includes the one in use', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  assert.deepEqual(await claimPort(bind(port, '0.0.0.0')), { problem: `0.0.0.0:${port} is in use by another program` })
})

test('an address that this machine does not have is a problem that names it', async () => {
  const claimed = await claimPort(bind(0, '192.0.2.1'))
  assert.ok('problem' in claimed && claimed.problem.startsWith('192.0.2.1:0'))
})
