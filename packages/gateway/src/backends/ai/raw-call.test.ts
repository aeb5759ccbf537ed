import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { WebSocket, WebSocketServer } from 'ws'
import { request } from '../../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

function aiRoute(port: number, routes: object, policies: object = {}, modelAliases: object = {}): object {
  const provider = { openai: {}, host: '127.0.0.1', port }
  return {
    policies: { ...policies, backend: { ai: { routes, modelAliases }, auth: { key: 'sk-gateway' } } },
    backends: [{ ai: { provider } }],
  }
}

const usage = { prompt_tokens: 4, completion_tokens: 6, total_tokens: 10 }

test('Passthrough sends bytes as they are, with the credential of the gateway, and counts nothing', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.end(JSON.stringify({ model: 'm', usage })))
  const rateLimit = { local: [{ tokens: 1, unit: 'Hours' }] }
  const gateway = await useGateway(t, httpConfig([aiRoute(origin.port, { '*': 'Passthrough' }, { rateLimit })]))
  for (let i = 1; i <= 2; i++) {
    const { status } = await request(gateway.port(), { method: 'PUT', path: '/v1/files?x=1', body: 'no json' })
    assert.equal(status, 200)
    await gateway.finished(i)
  }
  const seen = origin.seen[1]!
  assert.deepEqual([seen.method, seen.url, seen.body], ['PUT', '/v1/files?x=1', 'no json'])
  assert.equal(seen.headers['authorization'], 'Bearer sk-gateway')
})

test('Detect sends bytes as they are too, and finds usage in the answer', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => response.end(JSON.stringify({ model: 'm', usage })))
  const rateLimit = { local: [{ tokens: 10, unit: 'Hours' }] }
  const gateway = await useGateway(t, httpConfig([aiRoute(origin.port, { '*': 'Detect' }, { rateLimit })]))
  const send = async () => (await request(gateway.port(), { method: 'POST', path: '/v1/images', body: '{}' })).status
  assert.equal(await send(), 200)
  await gateway.finished(1)
  assert.equal(await send(), 429)
})

test('Realtime is a WebSocket to the provider, with its model and the credential of the gateway', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.after(() => server.close())
  await once(server, 'listening')
  const seen: { url: string | undefined; authorization: string | undefined }[] = []
  server.on('connection', (socket, { url, headers }) => {
    seen.push({ url, authorization: headers.authorization })
    socket.on('message', (data: Buffer) => socket.send(`echo ${data.toString()}`))
  })
  const { port } = server.address() as { port: number }
  const gateway = await useGateway(
    t,
    httpConfig([aiRoute(port, { '/realtime': 'Realtime' }, {}, { fast: 'gpt-realtime' })]),
  )
  const client = new WebSocket(`ws://127.0.0.1:${gateway.port()}/v1/realtime?model=fast`)
  t.after(() => client.terminate())
  await once(client, 'open')
  client.send('hello')
  const [answer] = (await once(client, 'message')) as [Buffer]
  assert.equal(String(answer), 'echo hello')
  assert.deepEqual(seen, [{ url: '/v1/realtime?model=gpt-realtime', authorization: 'Bearer sk-gateway' }])
})
