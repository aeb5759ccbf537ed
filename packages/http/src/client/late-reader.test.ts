import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { emptySource } from '../body/body.ts'
import { collect } from '../body/collect.ts'
import { Deadlines } from '../runtime/deadlines.ts'
import { HeaderBlock } from '../fields/header-block.ts'
import { useFrameBackend } from '../../../gateway/src/testing/http/frame-backend.ts'
import { until, useTcpServer } from '../../../gateway/src/testing/scene.ts'
import { Http1Connection } from './http1/http1-connection.ts'
import { Http2Connection } from './http2/http2-connection.ts'
import type { UpstreamResponse } from './upstream-types.ts'

test('a connection whose answer is read late serves the next request', async (t) => {
  const origin = await useTcpServer(t, (peer) =>
    peer.on('data', () => peer.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')),
  )
  const socket = connect(origin.port, '127.0.0.1')
  await once(socket, 'connect')
  t.after(() => socket.destroy())
  let idle = 0
  const connection = new Http1Connection(socket, { idle: () => idle++, closed() {} })
  for (let turn = 1; turn <= 3; turn++) {
    let answer: UpstreamResponse | null = null
    connection.send(
      {
        method: 'GET',
        target: '/',
        authority: 'a',
        headers: new HeaderBlock(),
        body: emptySource,
        upgrade: '',
        teTrailers: false,
      },
      { informed() {}, responded: (response) => (answer = response), upgraded() {}, failed: assert.ifError },
    )
    await until(() => answer !== null)
    // A consumer that first decides about the head lets the body wait.
    await nextTurn()
    const { body } = answer as unknown as UpstreamResponse
    const bytes = await new Promise<Buffer | null>((resolve) => collect(body, 10, resolve))
    assert.equal(bytes?.toString(), 'ok')
    assert.equal(idle, turn)
  }
})

test('an HTTP/2 response that is read late is whole though its backend has left', async (t) => {
  const backend = await useFrameBackend(t, (peer, stream) => {
    peer.head(stream)
    peer.data(stream, 'first ')
    peer.data(stream, 'last', true)
    peer.socket.end()
  })
  const socket = connect(backend.port, '127.0.0.1')
  await once(socket, 'connect')
  const closed = once(socket, 'close')
  const deadlines = new Deadlines()
  t.after(() => deadlines.close())
  const connection = new Http2Connection(socket, { idle() {}, closed() {}, fellSilent() {} }, deadlines)
  const response = await new Promise<UpstreamResponse>((responded) =>
    connection.send(
      {
        method: 'GET',
        target: '/',
        authority: 'a',
        headers: new HeaderBlock(),
        body: emptySource,
        upgrade: '',
        teTrailers: false,
      },
      { informed() {}, responded, upgraded() {}, failed: assert.ifError },
    ),
  )
  await closed
  await nextTurn()
  const bytes = await new Promise<Buffer | null>((resolve) => collect(response.body, 100, resolve))
  assert.equal(bytes?.toString(), 'first last')
})
