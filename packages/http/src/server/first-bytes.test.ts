import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { FakeTime } from '../../../gateway/src/testing/fake-time.ts'
import { until, useTcpServer } from '../../../gateway/src/testing/scene.ts'
import { detectHttp, readFirstBytes } from './first-bytes.ts'
import { StreamReader } from '../socket/socket-reader.ts'

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

const PREFACE = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'

/** A connection whose version is being detected: ten seconds for the first byte, five from there on. */
async function useDetection(t: TestContext) {
  const time = new FakeTime()
  const found: string[] = []
  const accepted: Socket[] = []
  const server = await useTcpServer(t, (socket) => {
    accepted.push(socket)
    const limits = { deadlines: time.deadlines, idleTimeoutMs: 10_000, headTimeoutMs: 5_000 }
    detectHttp(socket, new StreamReader(socket), limits, (version, bytes) =>
      found.push(`${version} ${bytes.toString()}`),
    )
  })
  const client = connect(server.port, '127.0.0.1').on('error', () => {})
  t.after(() => client.destroy())
  await until(() => accepted.length === 1)
  const [socket] = accepted
  assert.ok(socket)
  const send = async (text: string) => {
    const before = socket.bytesRead
    client.write(text)
    await until(() => socket.bytesRead === before + text.length)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { time, found, client, socket, send }
}

test('HTTP/2 is what begins with its whole preface, in whatever pieces it comes', async (t) => {
  for (const cut of [1, 3, 23]) {
    const { found, send } = await useDetection(t)
    await send(PREFACE.slice(0, cut))
    assert.deepEqual(found, [])
    await send(`${PREFACE.slice(cut)}x`)
    assert.deepEqual(found, [`2 ${PREFACE}x`])
  }
})

test('HTTP/1 is everything else, with all bytes that came', async (t) => {
  for (const [first, second] of [
    ['GET / HTTP/1.1\r\n', ''],
    ['P', 'OST / HTTP/1.1\r\n'],
    [PREFACE.slice(0, 23), 'x'],
  ] as const) {
    const { found, send } = await useDetection(t)
    await send(first)
    if (second !== '') await send(second)
    assert.deepEqual(found, [`1 ${first}${second}`])
  }
})

test('a client may be silent for as long as one that is idle, and has less time once it has begun', async (t) => {
  const silent = await useDetection(t)
  await silent.time.advance(9_900)
  assert.equal(silent.socket.destroyed, false)
  await silent.time.advance(200)
  assert.equal(silent.socket.destroyed, true)

  const slow = await useDetection(t)
  await slow.send('PRI')
  await slow.time.advance(3_000)
  await slow.send(' * ')
  assert.equal(slow.socket.destroyed, false)
  await slow.time.advance(2_100)
  assert.equal(slow.socket.destroyed, true)
})

test('a connection whose version is known has no deadline of this any more', async (t) => {
  const { found, socket, send, time } = await useDetection(t)
  await send('GET /')
  assert.equal(found.length, 1)
  await time.advance(20_000)
  assert.equal(socket.destroyed, false)
})

test('a client that ends before it has said what it speaks is let go', async (t) => {
  const { socket, client, found } = await useDetection(t)
  client.end('PRI')
  await once(socket, 'close')
  assert.deepEqual(found, [])
})
