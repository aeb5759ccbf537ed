import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { exchangeRaw, request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, INPUT, OUTPUT, type StreamName, vendorStreams } from './test-streams.ts'

/** Guards during a failover from one provider to the next, and guards of compressed responses. */

const SAID = 'mail ann@example.com now'
const MASKED = 'mail <EMAIL_ADDRESS> now'
const email = { regex: { builtins: ['Email'] } }

/** Whole responses of vendors, with the same text as their streams. */
const wholes: Readonly<Record<StreamName, (text: string) => object>> = {
  completions: (content) => ({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm-2026',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: INPUT, completion_tokens: OUTPUT, total_tokens: INPUT + OUTPUT },
  }),
  messages: (text) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm-2026',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: INPUT, output_tokens: OUTPUT },
  }),
  responses: (text) => ({
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm-2026',
    status: 'completed',
    output: [
      { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text, annotations: [] }] },
    ],
    usage: { input_tokens: INPUT, output_tokens: OUTPUT, total_tokens: INPUT + OUTPUT },
  }),
  gemini: (text) => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: INPUT, candidatesTokenCount: OUTPUT, totalTokenCount: INPUT + OUTPUT },
    modelVersion: 'm-2026',
  }),
}

interface Packing {
  name: string
  pack: (bytes: string) => Buffer
}

/**
 * Sends the text in the provider's format, as a stream if requested; character by character, so that no match is in one
 * piece.
 */
function says(name: StreamName, text: string, packing?: Packing): OriginHandler {
  const { start, begin, piece, end } = vendorStreams[name]
  return ({ body }, response) => {
    const isStream = (JSON.parse(body) as { stream?: boolean }).stream === true
    const pieces = text.split('').map((letter) => piece(letter))
    const told = isStream ? start + begin + pieces.join('') + end : JSON.stringify(wholes[name](text))
    const type = isStream ? 'text/event-stream' : 'application/json'
    const packed = packing === undefined ? {} : { 'content-encoding': packing.name }
    response.writeHead(200, { 'content-type': type, ...packed }).end(packing === undefined ? told : packing.pack(told))
  }
}

function fails(name: StreamName): OriginHandler {
  const { start, error } = vendorStreams[name]
  return ({ body }, response) => {
    const isStream = (JSON.parse(body) as { stream?: boolean }).stream === true
    if (isStream) response.writeHead(200, { 'content-type': 'text/event-stream' }).end(start + error)
    else response.writeHead(200, { 'content-type': 'application/json' }).end(/data: (.*)/.exec(error)![1])
  }
}

interface Setting {
  /** One handler per provider, each provider in its own group. */
  providers: readonly { name: StreamName; handler: OriginHandler; policies?: object }[]
  policies?: object
}

async function setUp(t: TestContext, { providers, policies = {} }: Setting) {
  const origins = await Promise.all(providers.map(({ handler }) => useOrigin(t, handler)))
  const groups = providers.map(({ name, policies: own = {} }, at) => ({
    providers: [
      {
        name: `p${at}`,
        [vendorStreams[name].provider]: {},
        host: '127.0.0.1',
        port: origins[at]!.port,
        policies: own,
      },
    ],
  }))
  const gateway = await useGateway(t, httpConfig([{ policies: { backend: policies }, backends: [{ ai: { groups } }] }]))
  const events = gateway.trace()
  const ask = (client: StreamName, more: object) =>
    request(gateway.port(), { method: 'POST', path: clientCalls[client].path, body: clientCalls[client].body(more) })
  const verdicts = async () =>
    (await events)
      .filter(({ message }) => message.type === 'promptGuard')
      .map(({ message }) => `${String(message['phase'])} ${String(message['verdict'])}`)
  return { gateway, origins, ask, verdicts }
}

const routes: readonly [client: StreamName, first: StreamName, second: StreamName][] = [
  ['completions', 'completions', 'completions'],
  ['completions', 'messages', 'completions'],
  ['completions', 'completions', 'messages'],
  ['messages', 'messages', 'messages'],
  ['messages', 'completions', 'messages'],
  ['responses', 'responses', 'responses'],
  ['responses', 'responses', 'messages'],
]

for (const [client, first, second] of routes) {
  for (const stream of [true, false]) {
    describe(`${client}, ${stream ? 'streamed' : 'whole'}: from ${first} to ${second}`, () => {
      test('the answer that the client gets is guarded, and it alone counts', async (t) => {
        const { gateway, ask, verdicts } = await setUp(t, {
          providers: [
            { name: first, handler: fails(first) },
            { name: second, handler: says(second, SAID) },
          ],
          policies: { ai: { promptGuard: { response: [email] } } },
        })
        const { status, body } = await ask(client, { stream })
        assert.equal(status, 200)
        if (stream) assert.equal(clientCalls[client].textOf(body), MASKED)
        else assert.ok(body.includes(MASKED) && !body.includes('ann@'), body)
        await gateway.finished(1)
        const { llm, reason } = gateway.records[0]!
        assert.deepEqual([llm!.inputTokens, llm!.outputTokens, llm!.isEstimated], [INPUT, OUTPUT, false])
        assert.deepEqual(
          llm!.attempts.map(({ providerName, hasFailed }) => [providerName, hasFailed]),
          [
            ['p0', true],
            ['p1', false],
          ],
        )
        assert.equal(reason, 'Upstream')
        assert.deepEqual(await verdicts(), ['response mask'])
        assert.deepEqual(gateway.bugs, [])
      })

      test('each provider has guards of its own', async (t) => {
        const own = { ai: { promptGuard: { request: [email], response: [email] } } }
        const { origins, ask, verdicts } = await setUp(t, {
          providers: [
            { name: first, handler: fails(first), policies: own },
            { name: second, handler: says(second, SAID) },
          ],
        })
        const asked = client === 'responses' ? { input: SAID } : { messages: [{ role: 'user', content: SAID }] }
        const { body } = await ask(client, { stream, ...asked })
        assert.ok(stream ? clientCalls[client].textOf(body) === SAID : body.includes(SAID), body)
        const [to = '', next = ''] = origins.map(({ seen }) => seen[0]!.body)
        assert.ok(to.includes(MASKED) && !to.includes('ann@'), to)
        assert.ok(next.includes(SAID), next)
        assert.deepEqual(await verdicts(), ['request mask'])
      })
    })
  }

  test(`${client}: what the guard of ${second} refuses goes no further than to ${first}`, async (t) => {
    const refusing = { ai: { promptGuard: { request: [{ regex: { matches: ['hi'], action: 'Reject' } }] } } }
    const { gateway, origins, ask } = await setUp(t, {
      providers: [
        { name: first, handler: fails(first) },
        { name: second, handler: says(second, SAID), policies: refusing },
      ],
    })
    const { status } = await ask(client, {})
    assert.equal(status, 403)
    assert.deepEqual(
      origins.map(({ seen }) => seen.length),
      [1, 0],
    )
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.reason, 'PromptGuard')
    assert.equal(gateway.records[0]!.llm!.totalTokens, 0)
  })
}

const packings: readonly Packing[] = [
  { name: 'gzip', pack: (text) => gzipSync(text) },
  { name: 'br', pack: (text) => brotliCompressSync(text) },
  { name: 'zstd', pack: (text) => zstdCompressSync(text) },
]
const pairs: readonly [client: StreamName, upstream: StreamName][] = [
  ['completions', 'completions'],
  ['messages', 'completions'],
  ['messages', 'messages'],
  ['responses', 'responses'],
]

for (const [client, upstream] of pairs) {
  describe(`${client} of a provider of ${upstream} that packs its answers`, () => {
    const guarded = { ai: { promptGuard: { response: [email] } } }
    for (const packing of packings) {
      test(`${packing.name}: guards see what is in them, streamed and whole`, async (t) => {
        const { gateway, ask } = await setUp(t, {
          providers: [{ name: upstream, handler: says(upstream, SAID, packing) }],
          policies: guarded,
        })
        const streamed = await ask(client, {})
        assert.equal(clientCalls[client].textOf(streamed.body), MASKED)
        const whole = await ask(client, { stream: false })
        assert.ok(whole.body.includes(MASKED) && !whole.body.includes('ann@'), whole.body)
        for (const { headers } of [streamed, whole]) assert.equal(headers['content-encoding'], undefined)
        await gateway.finished(2)
        for (const { llm } of gateway.records)
          assert.deepEqual([llm!.totalTokens, llm!.isEstimated], [INPUT + OUTPUT, false])
        assert.deepEqual(gateway.bugs, [])
      })
    }

    test('a whole answer in place of a stream is told as one, guarded or not', async (t) => {
      for (const [policies, text] of [
        [{}, SAID],
        [guarded, MASKED],
      ] as const) {
        const handler: OriginHandler = (_seen, response) => {
          response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' })
          response.end(JSON.stringify(wholes[upstream](SAID)))
        }
        const { gateway, ask } = await setUp(t, { providers: [{ name: upstream, handler }], policies })
        const { status, headers, body } = await ask(client, {})
        assert.deepEqual([status, headers['content-type']], [200, 'text/event-stream'])
        assert.equal(clientCalls[client].textOf(body), text)
        assert.equal(clientCalls[client].errorOf(body), null)
        await gateway.finished(1)
        const { llm } = gateway.records[0]!
        assert.deepEqual([llm!.inputTokens, llm!.outputTokens, llm!.isEstimated], [INPUT, OUTPUT, false])
      }
    })

    test('a stream by the wrong name is one all the same, and goes on while it comes', async (t) => {
      const { start, begin, piece, end } = vendorStreams[upstream]
      const { promise: seen, resolve: see } = Promise.withResolvers<void>()
      const handler: OriginHandler = (_seen, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.write(start + begin + piece('hello'))
        void seen.then(() => response.end(piece(' there') + end))
      }
      const { gateway } = await setUp(t, { providers: [{ name: upstream, handler }] })
      const body = clientCalls[client].body()
      const head = `POST ${clientCalls[client].path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${body.length}`
      const received = await exchangeRaw(gateway.port(), `${head}\r\n\r\n${body}`, (text) => {
        if (text.includes('hello')) see()
        return text.endsWith('\r\n0\r\n\r\n')
      })
      assert.equal(clientCalls[client].textOf(received), 'hello there')
    })

    test('one that is cut off is told as an error, and nothing unguarded goes out', async (t) => {
      const cut: Packing = { name: 'gzip', pack: (text) => gzipSync(text).subarray(0, -12) }
      const { gateway, ask } = await setUp(t, {
        providers: [{ name: upstream, handler: says(upstream, SAID, cut) }],
        policies: guarded,
      })
      const streamed = await ask(client, {})
      assert.ok(
        !streamed.body.includes('ann@') && !clientCalls[client].textOf(streamed.body).includes('@'),
        streamed.body,
      )
      assert.ok(streamed.status === 502 || clientCalls[client].errorOf(streamed.body) !== null, streamed.body)
      const whole = await ask(client, { stream: false })
      assert.equal(whole.status, 502)
      await gateway.finished(2)
      assert.deepEqual(gateway.bugs, [])
    })
  })
}

test('a whole answer that is too large to be read goes on while it comes', async (t) => {
  const { promise: seen, resolve: see } = Promise.withResolvers<void>()
  const text = JSON.stringify(wholes.completions('x'.repeat(20_000)))
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': String(text.length) })
    response.write(text.slice(0, 10_000))
    void seen.then(() => response.end(text.slice(10_000)))
  })
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const route = { backends: [{ ai: { provider } }] }
  const gateway = await useGateway(t, httpConfig([route], { frontend: { http: { maxBufferSize: 4_096 } } }))
  const body = clientCalls.completions.body({ stream: false })
  const head = `POST ${clientCalls.completions.path} HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: ${body.length}`
  const received = await exchangeRaw(gateway.port(), `${head}\r\n\r\n${body}`, (all) => {
    if (all.includes('xxx')) see()
    return all.endsWith(text)
  })
  assert.ok(received.endsWith(text))
})
