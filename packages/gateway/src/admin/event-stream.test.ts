import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { test } from 'node:test'
import { EventStream } from './event-stream.ts'

test('whoever never reads the rest does not keep the connection', async (t) => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.after(() => client.destroy())
  client.pause()
  client.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n')
  const [, response] = (await once(server, 'request')) as [unknown, ServerResponse]
  const stream = new EventStream(response, { maxWaitingBytes: 1_000_000, lingerMs: 50 })
  const more = { text: 'x'.repeat(100_000) }
  while (!stream.isFull) {
    stream.data(more)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const gone = once(response, 'close')
  stream.end()
  await gone
  assert.ok(!response.writableFinished)
})

test('frames after the end are nothing', async (t) => {
  const server = createServer((_, response) => {
    const stream = new EventStream(response)
    stream.comment('hello')
    stream.end()
    stream.comment('late')
    stream.data({ late: true })
    stream.keepAlive()
    stream.end()
  })
  server.listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), ': hello\n\n')
})
