import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, type StreamName, vendorStreams } from './test-streams.ts'

/** The effect of streams on the health of their provider, before and after the client has got content. */

interface Setting {
  client: StreamName
  upstream: StreamName
  health: object
  routes?: object
  /** The handler of the first provider; the second provider works. */
  handler: OriginHandler
}

async function setUp(t: TestContext, { client, upstream, health, handler, routes }: Setting) {
  const { start, begin, piece, end, provider } = vendorStreams[upstream]
  const works = streams(start, begin, piece('hello'), end)
  const origins = [await useOrigin(t, handler), await useOrigin(t, works)]
  const groups = origins.map(({ port }, at) => ({
    providers: [{ name: `p${at}`, [provider]: {}, host: '127.0.0.1', port }],
  }))
  const ai = routes === undefined ? {} : { policies: { backend: { ai: { routes } } } }
  const gateway = await useGateway(t, httpConfig([{ ...ai, backends: [{ ai: { groups }, policies: { health } }] }]))
  const { path, body, textOf, errorOf } = clientCalls[client]
  let count = 0
  const ask = async () => {
    const answer = await request(gateway.port(), { method: 'POST', path, body: body() })
    await gateway.finished(++count)
    return { text: textOf(answer.body), error: errorOf(answer.body), status: answer.status }
  }
  return {
    gateway,
    ask,
    counts: () => origins.map(({ seen }) => seen.length),
    evicted: () => gateway.evictions.map(({ endpoint }) => endpoint),
  }
}

function streams(...records: string[]): OriginHandler {
  return (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-mood': 'bad' }).end(records.join(''))
  }
}

function breaksOff(...records: string[]): OriginHandler {
  return (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(records.join(''), () => response.destroy())
  }
}

const pairs: readonly [client: StreamName, upstream: StreamName][] = [
  ['completions', 'completions'],
  ['messages', 'messages'],
  ['responses', 'responses'],
  ['completions', 'messages'],
  ['messages', 'completions'],
]

for (const [client, upstream] of pairs) {
  const { start, begin, piece, end, error } = vendorStreams[upstream]

  describe(`${client} of a provider of ${upstream}`, () => {
    test('a condition moves a stream on before anything of it is read', async (t) => {
      const health = { unhealthyCondition: 'response.headers["x-mood"] == "bad" && response.code == 200', eviction: {} }
      const handler = streams(start, begin, piece('moody'), end)
      const { ask, counts, evicted, gateway } = await setUp(t, { client, upstream, health, handler })
      // The second provider fails too, but is the last, so its response is used.
      const { text, status } = await ask()
      assert.deepEqual([status, text], [200, 'hello'])
      assert.deepEqual(counts(), [1, 1])
      assert.deepEqual(evicted(), ['p0', 'p1'])
      assert.deepEqual(
        gateway.records[0]!.llm!.attempts.map(({ outcome, hasFailed }) => [outcome, hasFailed]),
        [
          ['200', true],
          ['200', true],
        ],
      )
    })

    for (const health of [{ eviction: {} }, { unhealthyCondition: 'response.code == 418', eviction: {} }]) {
      const named = 'unhealthyCondition' in health ? 'whatever the condition says' : 'without a condition'

      test(`a stream that breaks off speaks against the provider, ${named}`, async (t) => {
        const handler = breaksOff(start, begin, piece('hel'))
        const { ask, counts, evicted, gateway } = await setUp(t, { client, upstream, health, handler })
        const { text, error: told } = await ask()
        assert.equal(text, 'hel')
        assert.notEqual(told, null)
        assert.deepEqual(evicted(), ['p0'])
        const { status, llm } = gateway.records[0]!
        assert.equal(status, 200)
        assert.deepEqual(llm!.attempts, [
          { providerName: 'p0', provider: llm!.provider, outcome: 'unreadable', hasFailed: true, charge: null },
        ])
        assert.match(gateway.metrics(), /^portico_gen_ai_provider_failures_total\{[^}]*cause="unreadable"[^}]*\} 1$/m)
        assert.equal((await ask()).text, 'hello')
        assert.deepEqual(counts(), [1, 1])
      })

      test(`a stream that breaks off before it has begun, ${named}`, async (t) => {
        const { ask, evicted } = await setUp(t, { client, upstream, health, handler: breaksOff(': wait\n\n') })
        assert.equal((await ask()).text, 'hello')
        assert.deepEqual(evicted(), ['p0'])
      })
    }

    test('an error behind the first content counts as its status would', async (t) => {
      const handler = streams(start, begin, piece('hel'), error)
      const health = {
        unhealthyCondition: 'response.code == 502 || response.code >= 529 || response.code == 503',
        eviction: {},
      }
      const { ask, counts, evicted, gateway } = await setUp(t, { client, upstream, health, handler })
      assert.equal((await ask()).text, 'hel')
      assert.deepEqual(evicted(), ['p0'])
      const { status, llm } = gateway.records[0]!
      assert.deepEqual([status, llm!.attempts[0]!.outcome, llm!.attempts[0]!.hasFailed], [200, 'error_in_body', true])
      assert.equal((await ask()).text, 'hello')
      assert.deepEqual(counts(), [1, 1])
    })

    test('a whole stream speaks for it', async (t) => {
      const handler = streams(start, begin, piece('fine'), end)
      const { ask, counts, evicted } = await setUp(t, { client, upstream, health: { eviction: {} }, handler })
      for (let i = 0; i < 2; i++) assert.equal((await ask()).text, 'fine')
      assert.deepEqual([counts(), evicted()], [[2, 0], []])
    })
  })
}

test('Detect: a stream that breaks off speaks against the provider', async (t) => {
  const { start, piece } = vendorStreams.completions
  const { ask, counts, evicted, gateway } = await setUp(t, {
    client: 'completions',
    upstream: 'completions',
    health: { eviction: {} },
    routes: { '*': 'Detect' },
    handler: breaksOff(start, piece('hel')),
  })
  await ask()
  assert.deepEqual(evicted(), ['p0'])
  const [attempt] = gateway.records[0]!.llm!.attempts
  assert.deepEqual([attempt?.outcome, attempt?.hasFailed], ['connection_lost', true])
  assert.equal((await ask()).text, 'hello')
  assert.deepEqual(counts(), [1, 1])
})

describe('a whole answer that breaks off speaks against the provider, whatever the condition says', () => {
  const health = { unhealthyCondition: 'response.code == 418', eviction: {} }
  const bodies = { ...clientCalls, embeddings: { path: '/v1/embeddings', body: () => '{"model":"m","input":"hi"}' } }
  for (const name of ['completions', 'messages', 'embeddings'] as const) {
    test(name, async (t) => {
      const cut: OriginHandler = (_seen, response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
        response.write('{"object":', () => response.destroy())
      }
      const { gateway, evicted, counts } = await setUp(t, {
        client: 'completions',
        upstream: name === 'messages' ? 'messages' : 'completions',
        health,
        handler: cut,
      })
      const { path, body } = bodies[name]
      await request(gateway.port(), { method: 'POST', path, body: body({ stream: false }) })
      await gateway.finished(1)
      assert.deepEqual([evicted(), counts()], [['p0'], [1, 1]])
      assert.equal(gateway.records[0]!.llm!.attempts[0]!.outcome, 'unreadable')
    })
  }
})
