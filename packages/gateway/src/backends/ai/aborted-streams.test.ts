import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, type StreamName, vendorStreams } from './test-streams.ts'

/** Streams that break off are charged for the reported usage and an estimate of the rest, and the log says so. */

const PIECES = 5
/** The tokens of `hi`: the delimiters of a message and of a response, and one token for the text. */
const ESTIMATED_INPUT = 3 + 4 + 1

const pairs: [client: StreamName, upstream: StreamName][] = [
  ['completions', 'completions'],
  ['completions', 'messages'],
  ['messages', 'messages'],
  ['messages', 'completions'],
  ['responses', 'responses'],
  ['responses', 'messages'],
]

for (const [client, upstream] of pairs) {
  const call = clientCalls[client]
  const stream = vendorStreams[upstream]
  const { provider, inputTokens } = stream
  const sent = stream.start + stream.begin + stream.piece('word ').repeat(PIECES)
  const input = inputTokens ?? ESTIMATED_INPUT

  describe(`${client} of a provider of ${upstream}`, () => {
    test('the client leaves', async (t) => {
      const { promise: left, resolve: leave } = Promise.withResolvers<void>()
      const { gateway } = await setUp(t, provider, (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).write(sent)
        response.on('close', leave)
      })
      const body = call.body()
      const bytes = `POST ${call.path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}\r\n\r\n${body}`
      await leaveAt(gateway.port(), bytes, (received) => received.split('word ').length > PIECES)
      // The provider's connection is closed, so the provider can stop.
      await left
      await charged(gateway)
    })

    test('the provider breaks off', async (t) => {
      const { gateway } = await setUp(t, provider, (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(sent, () => response.destroy())
      })
      const { body } = await request(gateway.port(), { method: 'POST', path: call.path, body: call.body() })
      assert.equal(call.textOf(body), 'word '.repeat(PIECES))
      assert.match(call.errorOf(body) ?? '', /./, 'the client is told in its own format')
      await charged(gateway)
    })

    async function charged(gateway: Awaited<ReturnType<typeof setUp>>['gateway']) {
      await gateway.finished(1)
      const line = JSON.parse(gateway.lines[0]!) as Record<string, unknown>
      assert.equal(line['gen_ai.usage.estimated'], true)
      assert.equal(line['gen_ai.usage.input_tokens'], input)
      const output = Number(line['gen_ai.usage.output_tokens'])
      // About one token per record; a few records have no text.
      assert.ok(output >= PIECES - 1 && output <= PIECES + 4, `${output} tokens`)
      const { headers } = await request(gateway.port())
      assert.equal(Number(headers['x-ratelimit-remaining']), 100 - input - output)
    }
  })
}

/**
 * Reads until `isThere`, then resets the connection: a client that only half-closes might still wait for a response.
 */
function leaveAt(port: number, bytes: string, isThere: (received: string) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.on('error', reject)
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1')
      if (isThere(received)) socket.resetAndDestroy()
    })
    socket.on('close', resolve)
  })
}

async function setUp(t: TestContext, provider: string, handler: OriginHandler) {
  const origin = await useOrigin(t, handler)
  const route = {
    policies: { rateLimit: { local: [{ tokens: 100, unit: 'Hours' }] } },
    backends: [{ ai: { provider: { [provider]: {}, host: '127.0.0.1', port: origin.port } } }],
  }
  const gateway = await useGateway(t, httpConfig([route]), { logFormat: 'json', monotonic: () => 0 })
  return { origin, gateway }
}
