import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { httpConfig, routeTo, until, useGateway, useOrigin } from '../../testing/scene.ts'

const ASK = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

test('draining ends quiet connections, and busy ones after their response', async (t) => {
  let answer = (): void => {}
  const origin = await useOrigin(t, (_request, response) => {
    answer = () => void response.end('done')
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const idle = connect(gateway.port(), '127.0.0.1')
  const busy = connect(gateway.port(), '127.0.0.1')
  idle.write(ASK)
  await until(() => origin.seen.length === 1)
  answer()
  await once(idle, 'data')
  busy.write(ASK)
  await until(() => origin.seen.length === 2)
  gateway.drain(0)
  idle.resume()
  await once(idle, 'end')
  let text = ''
  busy.on('data', (chunk: Buffer) => (text += chunk.toString()))
  answer()
  await once(busy, 'end')
  assert.match(text, /^HTTP\/1.1 200 [^]*connection: close\r\n[^]*done$/)
  idle.destroy()
  busy.destroy()
  await until(() => gateway.connectionCount() === 0)
})

test('a reload reaches the next request of an open connection, and a request under way keeps its route', async (t) => {
  let answer = (): void => {}
  const origin = await useOrigin(t, (_request, response) => {
    answer = () => void response.end('old')
  })
  const config = httpConfig([routeTo(origin)])
  const gateway = await useGateway(t, config)
  const client = connect(gateway.port(), '127.0.0.1')
  t.after(() => client.destroy())
  let text = ''
  client.on('data', (chunk: Buffer) => (text += chunk.toString()))
  client.write(ASK)
  await until(() => origin.seen.length === 1)
  await gateway.reload(JSON.stringify(httpConfig([{ policies: { directResponse: { status: 200, body: 'new' } } }])))
  answer()
  await until(() => text.endsWith('old'))
  client.write(ASK)
  await until(() => text.endsWith('new'))
})

test('a client that comes while the gateway drains gets its first request answered, as the last', async (t) => {
  const gateway = await useGateway(t, httpConfig([{ policies: { directResponse: { status: 200, body: 'late' } } }]))
  gateway.drain()
  const client = connect(gateway.port(), '127.0.0.1')
  let text = ''
  client.on('data', (chunk: Buffer) => (text += chunk.toString()))
  client.write(ASK)
  await once(client, 'end')
  assert.match(text, /^HTTP\/1.1 200 [^]*connection: close\r\n[^]*late$/)
  client.destroy()
})
