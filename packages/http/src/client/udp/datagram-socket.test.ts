import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { closedUdpPort, useUdpServer } from '../../../../gateway/src/testing/udp.ts'
import { until } from '../../../../gateway/src/testing/scene.ts'
import type { UpstreamError } from '../upstream-types.ts'
import { DatagramSocket } from './datagram-socket.ts'

/** A socket, and the calls that its handler got. */
function open(t: TestContext, address: { host: string; port: number }) {
  const calls: string[] = []
  const errors: UpstreamError[] = []
  const socket = new DatagramSocket(address, {
    opened: () => void calls.push('opened'),
    received: (datagram) => void calls.push(`received ${datagram.toString()}`),
    failed: (error) => {
      calls.push('failed')
      errors.push(error)
    },
    dropped: (reason) => void calls.push(`dropped ${reason}`),
  })
  t.after(() => socket.close())
  return { socket, calls, errors, saw: (call: string) => until(() => calls.includes(call)) }
}

for (const host of ['127.0.0.1', '::1']) {
  test(`datagrams go to ${host} and come back, empty ones too`, async (t) => {
    const echo = await useUdpServer(t, undefined, { address: host })
    const { socket, calls, saw } = open(t, { host, port: echo.port })
    await saw('opened')
    for (const text of ['a', '']) {
      socket.send(Buffer.from(text))
      await saw(`received ${text}`)
    }
    socket.close()
    socket.send(Buffer.from('late'))
    assert.deepEqual(calls, ['opened', 'received a', 'received '])
  })
}

test('a datagram that is too large for the protocol is dropped, and the next one is sent', async (t) => {
  const echo = await useUdpServer(t)
  const { socket, saw } = open(t, { host: '127.0.0.1', port: echo.port })
  await saw('opened')
  socket.send(Buffer.alloc(65_508))
  await saw('dropped too_large')
  socket.send(Buffer.from('b'))
  await saw('received b')
})

test('a port without a server fails the socket', async (t) => {
  const { socket, calls, errors, saw } = open(t, { host: '127.0.0.1', port: await closedUdpPort() })
  await saw('opened')
  socket.send(Buffer.from('a'))
  await saw('failed')
  assert.deepEqual(calls, ['opened', 'failed'])
  assert.deepEqual([errors[0]?.code, errors[0]?.message], ['connect_failed', 'endpoint refused the datagram'])
})

test('datagrams of other senders are not received', async (t) => {
  let sent = 0
  const stranger = await useUdpServer(t)
  const echo = await useUdpServer(t, (datagram, reply, source) => {
    // The stranger answers first.
    stranger.socket.send('forged', source.port, source.address, () => {
      sent++
      reply(datagram)
    })
  })
  const { socket, calls, saw } = open(t, { host: '127.0.0.1', port: echo.port })
  await saw('opened')
  socket.send(Buffer.from('a'))
  await saw('received a')
  assert.equal(sent, 1)
  assert.deepEqual(calls, ['opened', 'received a'])
})
