import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { httpConfig, routeTo, useGateway, useOrigin } from '../../../gateway/src/testing/scene.ts'

test('a client that closes while its stream is quiet is noticed, and the backend is let go', async (t) => {
  const { promise: letGo, resolve } = Promise.withResolvers<void>()
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write('data: first\n\n')
    response.on('close', () => resolve())
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const socket = connect(gateway.port(), '127.0.0.1')
  socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  await once(socket, 'data')
  socket.destroy()
  await letGo
  await gateway.finished(1)
  assert.equal(gateway.records[0]?.reason, 'ClientGone')
})

test('a client that sends no more still gets a stream that goes on', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let left = 8
    const timer = setInterval(() => {
      response.write('data: more\n\n')
      if (--left > 0) return
      clearInterval(timer)
      response.end()
    }, 250)
  })
  const gateway = await useGateway(t, httpConfig([routeTo(origin)]))
  const socket = connect({ port: gateway.port(), host: '127.0.0.1', allowHalfOpen: true })
  socket.end('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  let text = ''
  socket.on('data', (chunk) => (text += String(chunk)))
  await once(socket, 'end')
  assert.equal(text.split('data: more').length, 9)
})
