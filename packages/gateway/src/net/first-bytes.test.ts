import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { FakeTime } from '../testing/fake-time.ts'
import { until, useTcpServer } from '../testing/scene.ts'
import { readFirstBytes } from './first-bytes.ts'

test('the time for the first bytes is one for all of them, however they trickle', async (t) => {
  const time = new FakeTime()
  let received = 0
  let accepted: Socket | null = null
  const server = await useTcpServer(t, (socket) => {
    accepted = socket
    readFirstBytes(socket, time.deadlines, 5_000, (bytes) => {
      received = bytes.length
      return 'more'
    })
  })
  const client = connect(server.port, '127.0.0.1').on('error', () => {})
  t.after(() => client.destroy())
  await once(client, 'connect')
  for (let sent = 1; sent <= 3; sent++) {
    client.write('x')
    await until(() => received === sent)
    await time.advance(1_500)
  }
  assert.equal((accepted as Socket | null)?.destroyed, false)
  client.write('x')
  await until(() => received === 4)
  await time.advance(1_500)
  assert.equal((accepted as Socket | null)?.destroyed, true)
})
