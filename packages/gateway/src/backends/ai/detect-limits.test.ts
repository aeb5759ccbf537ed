import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { exchangeRaw, request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, INPUT, OUTPUT, type StreamName, vendorStreams } from './test-streams.ts'

/** Token limits for responses that pass unchanged: reported usage counts, and missing usage is estimated. */

const LIMIT = 10
const names = ['completions', 'messages', 'responses'] as const

async function setUp(t: TestContext, handlers: readonly OriginHandler[], { tokens = LIMIT, health = {} } = {}) {
  const origins = await Promise.all(handlers.map((handler) => useOrigin(t, handler)))
  const groups = origins.map(({ port }, at) => ({
    providers: [{ name: `p${at}`, openai: {}, host: '127.0.0.1', port }],
  }))
  const policies = {
    rateLimit: { local: [{ tokens, unit: 'Hours' }] },
    backend: { ai: { routes: { '*': 'Detect' } }, ...health },
  }
  const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ ai: { groups } }] }]))
  const ask = (name: StreamName = 'completions') =>
    request(gateway.port(), { method: 'POST', path: clientCalls[name].path, body: clientCalls[name].body() })
  return { gateway, origins, ask }
}

function streamOf(name: StreamName): string {
  const { start, begin, piece, end } = vendorStreams[name]
  return start + begin + piece('hel') + piece('lo') + end
}

function sends(text: string | Buffer, headers: Record<string, string> = {}): OriginHandler {
  return (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', ...headers }).end(text)
  }
}

for (const name of names) {
  test(`${name}: a stream is charged what it reports, packed or not, and passes as it is`, async (t) => {
    const text = streamOf(name)
    for (const [encoding, bytes] of [
      ['', text],
      ['gzip', gzipSync(text)],
      ['br', brotliCompressSync(text)],
    ] as const) {
      const handler = sends(bytes, encoding === '' ? {} : { 'content-encoding': encoding })
      const { gateway, ask } = await setUp(t, [handler])
      const { status, body } = await ask(name)
      assert.deepEqual([status, body], [200, text])
      await gateway.finished(1)
      const { llm } = gateway.records[0]!
      assert.deepEqual([llm!.inputTokens, llm!.outputTokens, llm!.isEstimated], [INPUT, OUTPUT, false])
      assert.equal((await ask(name)).status, 429)
    }
  })

  test(`${name}: after a failover only the answer that came counts`, async (t) => {
    const trouble: OriginHandler = (_seen, response) => {
      response.writeHead(503, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ usage: { prompt_tokens: 500, completion_tokens: 500 } }))
    }
    const { gateway, ask, origins } = await setUp(t, [trouble, sends(streamOf(name))])
    assert.equal((await ask(name)).body, streamOf(name))
    await gateway.finished(1)
    assert.equal(gateway.records[0]!.llm!.totalTokens, INPUT + OUTPUT)
    assert.equal((await ask(name)).status, 429)
    assert.deepEqual(
      origins.map(({ seen }) => seen.length),
      [1, 1],
    )
  })

  test(`${name}: a stream that breaks off is charged about one token a record`, async (t) => {
    const { start, begin, piece } = vendorStreams[name]
    const { gateway, ask } = await setUp(t, [
      (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(start + begin + piece('a').repeat(20), () => response.destroy())
      },
    ])
    await ask(name)
    await gateway.finished(1)
    const { llm } = gateway.records[0]!
    assert.ok(llm!.isEstimated && llm!.outputTokens >= 20, String(llm!.outputTokens))
    assert.equal((await ask(name)).status, 429)
  })

  test(`${name}: a client that leaves in the middle is charged too`, async (t) => {
    const { start, begin, piece } = vendorStreams[name]
    const { gateway, ask } = await setUp(t, [
      (_seen, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write(start + begin + piece('a').repeat(20))
      },
    ])
    const body = clientCalls[name].body()
    const head = `POST ${clientCalls[name].path} HTTP/1.1\r\nhost: a\r\ncontent-length: ${body.length}`
    const last = piece('a').trim()
    await exchangeRaw(gateway.port(), `${head}\r\n\r\n${body}`, (text) => text.split(last).length > 20)
    await gateway.finished(1)
    const { llm } = gateway.records[0]!
    assert.ok(llm!.isEstimated && llm!.outputTokens >= 20, String(llm!.outputTokens))
    assert.equal((await ask(name)).status, 429)
  })
}

test('a stream that reports no usage at all is charged about one token a record: nobody is exempt by not asking', async (t) => {
  const { start, piece } = vendorStreams.completions
  const text = `${start}${piece('a').repeat(20)}data: [DONE]\n\n`
  const { gateway, ask } = await setUp(t, [sends(text)])
  const { status, body } = await ask()
  assert.deepEqual([status, body], [200, text])
  await gateway.finished(1)
  const { llm } = gateway.records[0]!
  assert.deepEqual([llm!.isEstimated, llm!.outputTokens >= 20 && llm!.outputTokens <= 22], [true, true])
  assert.equal((await ask()).status, 429)
})

test('a response that is not an event stream is charged nothing without reported usage', async (t) => {
  for (const [type, text] of [
    ['text/plain', 'data: a list\n\ndata: of lines\n\n'],
    ['application/json', '{"data":[]}'],
    ['audio/mpeg', '\xff\xfbdata: x\n\n'],
  ] as const) {
    const { gateway, ask } = await setUp(t, [sends(Buffer.from(text, 'latin1'), { 'content-type': type })])
    await ask()
    await gateway.finished(1)
    const { llm } = gateway.records[0]!
    assert.deepEqual([llm!.totalTokens, llm!.isEstimated], [0, false], type)
  }
})

test('an unhealthy condition of the config fails a stream over and evicts the provider', async (t) => {
  const health = { health: { unhealthyCondition: 'response.headers["x-mood"] == "bad"', eviction: {} } }
  const moody = sends(streamOf('completions'), { 'x-mood': 'bad' })
  const { gateway, ask, origins } = await setUp(t, [moody, sends(streamOf('completions'))], { tokens: 1_000, health })
  for (let i = 1; i <= 2; i++) {
    assert.equal((await ask()).body, streamOf('completions'))
    await gateway.finished(i)
  }
  assert.deepEqual(
    origins.map(({ seen }) => seen.length),
    [1, 2],
  )
  assert.deepEqual(
    gateway.evictions.map(({ endpoint }) => endpoint),
    ['p0'],
  )
  assert.deepEqual(
    gateway.records.map(({ llm }) => llm!.totalTokens),
    [INPUT + OUTPUT, INPUT + OUTPUT],
  )
})
