import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { WebSocket, WebSocketServer } from 'ws'
import { request } from '../../testing/client.ts'
import type { TestGateway } from '../../testing/gateway.ts'
import { httpConfig, until, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, vendorStreams } from './test-streams.ts'

/** A stream keeps no memory after its end. */

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

const RUNS = 150
/** Each stream is several times longer than this limit per run, so keeping a part of each would show. */
const MOST_KEPT_BYTES = RUNS * 20_000
const PIECE = `${'words and more words '.repeat(20)}. `
const PIECES = 200

const guard = { promptGuard: { response: [{ regex: { builtins: ['Email'] } }] } }
const cases: [string, keyof typeof clientCalls, keyof typeof vendorStreams, object][] = [
  ['streams that pass as they are', 'completions', 'completions', {}],
  ['streams that are translated', 'messages', 'completions', {}],
  ['streams that are guarded', 'responses', 'responses', guard],
]

for (const [name, client, upstream, ai] of cases) {
  test(`memory of ${name}`, async (t) => {
    const stream = vendorStreams[upstream]
    const origin = await useOrigin(t, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.end(stream.start + stream.begin + stream.piece(PIECE).repeat(PIECES) + stream.end)
    })
    const provider = { [stream.provider]: {}, host: '127.0.0.1', port: origin.port }
    const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { provider }, policies: { ai } }] }]))
    const { path, body, textOf } = clientCalls[client]
    await expectConstantMemory(t, gateway, async () => {
      const answer = await request(gateway.port(), { method: 'POST', path, body: body() })
      assert.equal(textOf(answer.body).length, PIECE.length * PIECES)
    })
  })
}

test('memory of Realtime sessions', async (t) => {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  t.after(() => server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.on('connection', (socket) => {
    for (let i = 0; i < PIECES; i++) socket.send(JSON.stringify({ type: 'response.output_text.delta', delta: PIECE }))
    socket.send('last')
  })
  const ai = { routes: { '*': 'Realtime' } }
  const provider = { openai: {}, host: '127.0.0.1', port }
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { provider }, policies: { ai } }] }]))
  await expectConstantMemory(t, gateway, async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${gateway.port()}/v1/realtime?model=m`)
    await new Promise<void>((resolve) =>
      socket.on('message', (data: Buffer) => {
        if (data.toString() === 'last') resolve()
      }),
    )
    socket.close()
    await once(socket, 'close')
  })
})

async function expectConstantMemory(t: TestContext, gateway: TestGateway, run: () => Promise<void>): Promise<void> {
  const after = async (runs: number): Promise<number> => {
    for (let i = 0; i < runs; i++) await run()
    await until(() => gateway.connectionCount() === 0)
    // Records of whole requests, which only a gateway under test keeps.
    gateway.records.length = 0
    // Garbage collected by the first run may have held other objects.
    for (let i = 0; i < 2; i++) {
      await setImmediate()
      collectGarbage()
    }
    const { heapUsed, external } = process.memoryUsage()
    return heapUsed + external
  }
  // The first runs compile code and allocate buffers.
  const before = await after(RUNS / 3)
  const grown = (await after(RUNS)) - before
  t.diagnostic(`${Math.round(grown / RUNS)} bytes a run`)
  assert.ok(grown < MOST_KEPT_BYTES, `${grown} bytes more after ${RUNS} runs`)
}
