import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { FakeTime } from '../../../../gateway/src/testing/fake-time.ts'
import type { Exchange } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { DATA, FrameClient, GOAWAY, PING, RST_STREAM } from '../../testing/frame-client.ts'
import { startServer, until } from '../../testing/http2-server.ts'

/** Streams that a client cancels: an attack only when the client received next to nothing of them. */

const GET: [string, string][] = [
  [':method', 'GET'],
  [':scheme', 'http'],
  [':path', '/'],
  [':authority', 'a'],
]
const CANCEL = Buffer.from([0, 0, 0, 8])
const ROUND = 100
const ROUNDS = 6

async function start(t: TestContext, answerBytes: number) {
  const time = new FakeTime()
  const server = await startServer(
    (exchange: Exchange) => {
      const sink = exchange.respond(200, new HeaderBlock(), -1)
      sink.write(Buffer.alloc(answerBytes, 97))
      sink.flush()
    },
    { deadlines: time.deadlines },
  )
  t.after(() => server.close())
  const client = await FrameClient.open(server.port)
  t.after(() => client.destroy())
  return { time, server, client }
}

/** Opens streams and cancels them; returns how many were cancelled before the server closed the connection. */
async function cancel(client: FrameClient, ready: () => Promise<void>, dataFrames: number): Promise<number> {
  let stream = 1
  let cancelled = 0
  for (let round = 0; round < ROUNDS; round++) {
    const seen = client.frames.filter(({ type }) => type === DATA).length
    const first = stream
    for (let i = 0; i < ROUND; i++, stream += 2) client.headers(stream, GET)
    await until(
      () => client.closed || client.frames.filter(({ type }) => type === DATA).length >= seen + ROUND * dataFrames,
    )
    await ready()
    for (let id = first; id < stream; id += 2) client.send(RST_STREAM, 0, id, CANCEL)
    client.send(PING, 0, 0, Buffer.alloc(8, round))
    await client.wait(
      ({ type, flags, payload }) => type === GOAWAY || (type === PING && flags === 1 && payload[0] === round),
    )
    if (client.closed || client.frames.some(({ type }) => type === GOAWAY)) return cancelled
    cancelled += ROUND
  }
  return cancelled
}

test('streams cancelled at once end the connection', async (t) => {
  const { server, client } = await start(t, 10)
  assert.equal(await cancel(client, async () => {}, 1), 200)
  assert.deepEqual(server.refused, ['0 too_many_resets'])
})

test('streams cancelled after a second are no attack', async (t) => {
  const { time, server, client } = await start(t, 10)
  assert.equal(await cancel(client, () => time.advance(1_000), 1), ROUND * ROUNDS)
  assert.deepEqual(server.refused, [])
})

test('streams cancelled after 16 KiB of their response are no attack', async (t) => {
  const { server, client } = await start(t, 16_384)
  client.send(8, 0, 0, Buffer.from([0x7f, 0, 0, 0]))
  assert.equal(await cancel(client, async () => {}, 1), ROUND * ROUNDS)
  assert.deepEqual(server.refused, [])
})
