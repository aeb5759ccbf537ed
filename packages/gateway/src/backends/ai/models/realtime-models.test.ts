import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { httpConfig, useGateway } from '../../../testing/scene.ts'

test('a Realtime session goes to the provider of its model, and an unknown model is refused', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.after(() => {
    for (const socket of server.clients) socket.terminate()
    server.close()
  })
  await once(server, 'listening')
  const urls: (string | undefined)[] = []
  server.on('connection', (_socket, { url }) => urls.push(url))
  const { port } = server.address() as AddressInfo
  const models = [{ name: 'voice', provider: { openai: { model: 'gpt-realtime' }, host: '127.0.0.1', port } }]
  const policies = { ai: { routes: { '/realtime': 'Realtime' } } }
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { models }, policies }] }]))
  const connect = (model: string): WebSocket => {
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port()}/v1/realtime?model=${model}`)
    t.after(() => socket.terminate())
    return socket
  }
  await once(connect('voice'), 'open')
  assert.deepEqual(urls, ['/v1/realtime?model=gpt-realtime'])
  const [error] = (await once(connect('voise'), 'error')) as [Error]
  assert.match(error.message, /404/)
  assert.equal(urls.length, 1)
  assert.deepEqual(gateway.bugs, [])
})
