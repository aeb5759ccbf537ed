import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { FakeTime } from '../../../gateway/src/testing/fake-time.ts'
import { until, useTcpServer } from '../../../gateway/src/testing/scene.ts'
import { lingeringClose } from './lingering-close.ts'

/** A connection that the server ends with a response as soon as data has arrived. */
async function useLinger(t: TestContext) {
  const time = new FakeTime()
  const accepted: Socket[] = []
  const server = await useTcpServer(t, (socket) => {
    accepted.push(socket)
    socket.once('data', () => {
      socket.pause()
      socket.write('reply')
      lingeringClose(socket, time.deadlines)
    })
  })
  const client = connect({ port: server.port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
  t.after(() => client.destroy())
  let reply = ''
  client.on('data', (chunk: Buffer) => (reply += chunk.toString()))
  client.write('request')
  await once(client, 'end')
  const [socket] = accepted
  assert.ok(socket)
  assert.equal(reply, 'reply')
  return { time, client, socket }
}

test('a client that goes on sending has the reply, and is dropped beyond a mebibyte', async (t) => {
  const { client, socket } = await useLinger(t)
  const before = socket.bytesRead
  client.write(Buffer.alloc(1024 * 1024))
  await until(() => socket.bytesRead === before + 1024 * 1024)
  assert.equal(socket.destroyed, false)
  client.write('x')
  await once(socket, 'close')
  assert.equal(socket.readableEnded, false)
})

test('a client that ends ends the connection', async (t) => {
  const { client, socket } = await useLinger(t)
  client.end()
  await once(socket, 'close')
  assert.equal(socket.readableEnded, true)
})

test('a client that says nothing more has two seconds', async (t) => {
  const { time, socket } = await useLinger(t)
  await time.advance(1_900)
  assert.equal(socket.destroyed, false)
  await time.advance(200)
  assert.equal(socket.destroyed, true)
})
