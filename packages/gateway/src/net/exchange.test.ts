import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connectionInfo } from './exchange.ts'

async function usePair(t: TestContext): Promise<{ accepted: Socket; client: Socket; port: number }> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect(port, '127.0.0.1')
  const [[accepted]] = (await Promise.all([once(server, 'connection'), once(client, 'connect')])) as [[Socket], unknown]
  server.close()
  t.after(() => [accepted, client].forEach((socket) => socket.destroy()))
  return { accepted, client, port }
}

test('a connection is known by both its ends', async (t) => {
  const { accepted, client, port } = await usePair(t)
  const info = connectionInfo(accepted, null, 'a.test')
  assert.deepEqual([info.address, info.port], ['127.0.0.1', client.localPort])
  assert.deepEqual([info.rawAddress, info.rawPort], ['127.0.0.1', client.localPort])
  assert.equal(info.source, `127.0.0.1:${client.localPort}`)
  assert.deepEqual(info.destination(), { address: '127.0.0.1', port })
  assert.deepEqual([info.scheme, info.sni, info.handshake, info.principal()], ['http', 'a.test', '', ''])
})

test('what a proxy says of a connection counts, and its own end stays known', async (t) => {
  const { accepted, client } = await usePair(t)
  const ends = { source: { address: '2001:db8::1', port: 7 }, destination: { address: '2001:db8::2', port: 8 } }
  const info = connectionInfo(accepted, { ...ends, isLocal: false } as Parameters<typeof connectionInfo>[1], '')
  assert.deepEqual([info.address, info.port, info.source], ['2001:db8::1', 7, '[2001:db8::1]:7'])
  assert.deepEqual([info.rawAddress, info.rawPort], ['127.0.0.1', client.localPort])
  assert.deepEqual(info.destination(), ends.destination)
})
