import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { closedPort, httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, INPUT, OUTPUT, type StreamName, vendorStreams } from './test-streams.ts'

/** A failing request fails over to the next group until the first byte of content was sent, and the trace says why. */

const formats = ['completions', 'messages', 'responses'] as const

function status(code: number, headers: Record<string, string> = {}): OriginHandler {
  return (_seen, response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers })
    response.end(JSON.stringify({ error: { message: `it says ${code}`, type: 'some_error' } }))
  }
}

/** A start record with usage that the final provider did not have. */
function usedMuch(start: string): string {
  return start.replace('"output_tokens":1', '"output_tokens":1,"cache_read_input_tokens":500')
}

function streamed(...records: string[]): OriginHandler {
  return (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(records.join(''))
  }
}

for (const format of formats) {
  const call = clientCalls[format]
  const stream = vendorStreams[format]
  const works = streamed(stream.start, stream.begin, stream.piece('hello'), stream.end)

  const troubles: [name: string, handler: OriginHandler | 'refused', reason: RegExp][] = [
    ['429 without retry-after', status(429), /^status 429$/],
    ['429 with retry-after', status(429, { 'retry-after': '60' }), /^status 429$/],
    ['500', status(500), /^status 500$/],
    ['503', status(503), /^status 503$/],
    ['529, which means overloaded', status(529), /^status 529$/],
    ['nobody listens', 'refused', /^connect_failed: /],
    ['the connection is closed', (_seen, response) => void response.destroy(), /^connection_lost: /],
    ['a stream that begins with an error', streamed(stream.error), /too much to do/],
    ['a stream that fails before its first content', streamed(usedMuch(stream.start), stream.error), /too much to do/],
    ['a stream that ends before it has begun', streamed(''), /./],
    [
      'a stream that breaks before it has begun',
      (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(': wait\n\n', () => response.destroy())
      },
      /./,
    ],
  ]

  describe(`${format}: what goes to the next group`, () => {
    for (const [name, trouble, reason] of troubles) {
      test(name, async (t) => {
        const { send, events, first, second, gateway } = await useGroups(t, format, [trouble, works])
        const answer = await send()
        assert.equal(answer.status, 200)
        assert.equal(call.textOf(answer.body), 'hello')
        assert.equal(call.errorOf(answer.body), null)
        assert.deepEqual([first?.seen.length ?? 1, second!.seen.length], [1, 1])
        const [move, ...others] = await moves(events)
        assert.deepEqual([move!.from, move!.to, others], ['p0', 'p1', []])
        assert.match(move!.reason, reason)
        // Usage of the first provider is not counted.
        await gateway.finished(1)
        const { usage, isEstimated, providerName } = gateway.records[0]!.llm!
        assert.deepEqual([usage.input, usage.output, isEstimated, providerName], [INPUT, OUTPUT, false, 'p1'])
        assert.equal(usage.cacheRead ?? 0, 0)
      })
    }
  })

  describe(`${format}: failures without failover`, () => {
    for (const code of [400, 401, 403, 404]) {
      test(`${code} is about the request`, async (t) => {
        const { send, events, second } = await useGroups(t, format, [status(code), works])
        assert.equal((await send()).status, code)
        assert.equal(second!.seen.length, 0)
        assert.deepEqual(await moves(events), [])
      })
    }

    test('a stream that breaks after its first byte of content', async (t) => {
      const breaks: OriginHandler = (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(stream.start + stream.begin + stream.piece('hel'), () => response.destroy())
      }
      const { send, second, events } = await useGroups(t, format, [breaks, works])
      const answer = await send()
      assert.equal(call.textOf(answer.body), 'hel')
      assert.match(call.errorOf(answer.body) ?? '', /./)
      assert.equal(second!.seen.length, 0)
      assert.deepEqual(await moves(events), [])
    })

    test('a 429 when nobody is left, with the time to wait', async (t) => {
      const slow = status(429, { 'retry-after': '7' })
      const { send, events } = await useGroups(t, format, [status(503), status(500), slow])
      const answer = await send()
      assert.equal(answer.status, 429)
      assert.equal(answer.headers['retry-after'], '7')
      assert.match(answer.body, /it says 429/)
      const seen = (await moves(events)).map(({ from, to, reason }) => `${from} ${to} ${reason}`)
      assert.deepEqual(seen, ['p0 p1 status 503', 'p1 p2 status 500'])
    })
  })
}

async function useGroups(t: TestContext, format: StreamName, handlers: readonly (OriginHandler | 'refused')[]) {
  const origins = await Promise.all(
    handlers.map((handler) => (handler === 'refused' ? Promise.resolve(null) : useOrigin(t, handler))),
  )
  const groups = await Promise.all(
    origins.map(async (origin, index) => {
      const port = origin?.port ?? (await closedPort())
      return {
        providers: [{ name: `p${index}`, [vendorStreams[format].provider]: {}, host: '127.0.0.1', port }],
      }
    }),
  )
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { groups } }] }]))
  const events = gateway.trace()
  const { path, body } = clientCalls[format]
  return {
    gateway,
    events,
    first: origins[0],
    second: origins[1],
    send: () => request(gateway.port(), { method: 'POST', path, body: body() }),
  }
}

interface Move {
  from: string
  to: string
  reason: string
}

async function moves(events: ReturnType<Awaited<ReturnType<typeof useGateway>>['trace']>): Promise<Move[]> {
  return (await events)
    .filter(({ message }) => message.type === 'llmFailover')
    .map(({ message }) => ({
      from: String(message['from']),
      to: String(message['to']),
      reason: String(message['reason']),
    }))
}
