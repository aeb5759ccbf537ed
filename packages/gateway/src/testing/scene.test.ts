import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { test } from 'node:test'
import { closedPort } from './scene.ts'

test('a closed port refuses connections, and can be listened on by who asks for it', async (t) => {
  const port = await closedPort()
  await assert.rejects(once(connect(port, '127.0.0.1'), 'connect'), { code: 'ECONNREFUSED' })
  const server = createServer((socket) => socket.end('here')).listen(port, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const [said] = await once(connect(port, '127.0.0.1'), 'data')
  assert.equal(String(said), 'here')
})
