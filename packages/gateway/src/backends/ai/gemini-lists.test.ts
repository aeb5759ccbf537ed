import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

/** Tests for streams in the form of one JSON list, as Google's API sends them: to clients, and from providers. */

const PATH = '/v1beta/models/gemini-2.5-flash:streamGenerateContent'
const asked = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'hi' }] }] })
const PRICES = { models: [{ model: 'gemini-*', rates: { input: 1, output: 100 } }], table: 'None' }

const piece = (text: string, more: object = {}) => ({
  candidates: [{ content: { role: 'model', parts: [{ text }] }, index: 0, ...more }],
  usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
  modelVersion: 'gemini-2.5-flash',
  responseId: 'r1',
})
const PIECES = [piece('well, '), piece('"[{hällo}]" 123-45-'), piece('6789', { finishReason: 'STOP' })]
const TEXT = 'well, "[{hällo}]" 123-45-6789'

type Piece = ReturnType<typeof piece>

/** Writes a stream a few bytes at a time. */
function inPieces(type: string, text: string, { isCut = false } = {}): OriginHandler {
  return (_seen, response) => {
    response.writeHead(200, { 'content-type': type })
    const bytes = Buffer.from(text)
    for (let at = 0; at < bytes.length; at += 7) response.write(bytes.subarray(at, at + 7))
    if (isCut) setImmediate(() => response.destroy())
    else response.end()
  }
}

const asEvents = (type = 'text/event-stream') =>
  inPieces(type, PIECES.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join(''))
const asList = (options?: { isCut?: boolean }, text = JSON.stringify(PIECES, null, 2)) =>
  inPieces('application/json; charset=UTF-8', text, options)

async function setUp(t: TestContext, handler: OriginHandler, { provider = 'gemini', ai = {} } = {}) {
  const origin = await useOrigin(t, handler)
  const config = httpConfig(
    [
      {
        policies: { backend: { prices: PRICES } },
        backends: [
          {
            ai: { provider: { [provider]: {}, host: '127.0.0.1', port: origin.port } },
            policies: { auth: { key: 'key' }, ai },
          },
        ],
      },
    ],
    { frontend: { recorder: {} } },
  )
  const gateway = await useGateway(t, config, { logFormat: 'json' })
  const post = async (path: string, body = asked) => {
    const sent = { method: 'POST', path, headers: { 'content-type': 'application/json' }, body }
    const answer = await request(gateway.port(), sent)
    return { ...answer, body: Buffer.from(answer.body, 'latin1').toString() }
  }
  return { origin, gateway, post }
}

/** Checks that the log line, the metric and the record of a request report the fault of a response with status 200. */
async function failed(gateway: Awaited<ReturnType<typeof useGateway>>, code: string): Promise<void> {
  await gateway.finished(1)
  const { reason } = JSON.parse(gateway.lines[0] ?? '{}') as { reason?: string }
  const record = gateway.recorded()[0]
  assert.deepEqual([reason, record?.reason?.kind, record?.reason?.code], ['UpstreamFailure', 'UpstreamFailure', code])
  assert.match(gateway.metrics(), /^portico_requests_total\{[^}]*reason="UpstreamFailure"[^}]*\} 1$/m)
}

function textOf(pieces: readonly Piece[]): string {
  return pieces.map(({ candidates }) => candidates[0]?.content.parts.map(({ text }) => text).join('')).join('')
}

function eventsIn(body: string): Piece[] {
  return [...body.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as Piece)
}

describe('a client that asks for a list', () => {
  test('gets the responses of a provider of its format unchanged, and their usage is priced', async (t) => {
    const { origin, gateway, post } = await setUp(t, asEvents())
    const { status, headers, body } = await post(PATH)
    assert.deepEqual([status, headers['content-type']], [200, 'application/json'])
    assert.deepEqual(JSON.parse(body), PIECES)
    assert.match(origin.seen[0]?.url ?? '', /streamGenerateContent\?alt=sse$/)
    await gateway.finished(1)
    const llm = gateway.records[0]?.llm
    assert.deepEqual([llm?.streaming, llm?.inputTokens, llm?.outputTokens], [true, 7, 3])
    assert.deepEqual(llm?.cost?.kind === 'known' ? llm.cost.nanoDollars : null, 307_000)
  })

  test('gets a list of another format, also of a provider that does not stream', async (t) => {
    const head = { id: 'c1', created: 1, model: 'gpt-4.1' }
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const stream = `${chunk({ role: 'assistant', content: 'wé' }, null)}${chunk({ content: 'll' }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`
    const choices = [{ index: 0, message: { role: 'assistant', content: 'wéll' }, finish_reason: 'stop' }]
    const whole = JSON.stringify({ ...head, object: 'chat.completion', choices })
    for (const handler of [inPieces('text/event-stream', stream), inPieces('application/json', whole)]) {
      const { post } = await setUp(t, handler, { provider: 'openai' })
      const { headers, body } = await post(`${PATH}?$alt=json;enum-encoding=int`)
      assert.equal(headers['content-type'], 'application/json')
      assert.equal(textOf(JSON.parse(body) as Piece[]), 'wéll')
    }
  })

  test('gets masked texts, over the borders of the responses', async (t) => {
    const promptGuard = {
      response: [{ regex: { builtins: ['Ssn'], action: 'Mask' } }],
    }
    const { post } = await setUp(t, asList(), { ai: { promptGuard } })
    const { body } = await post(PATH)
    const text = textOf(JSON.parse(body) as Piece[])
    assert.match(text, /hällo.*<SSN>/)
    assert.doesNotMatch(text, /6789/)
  })

  test('gets an error as the last response when the provider breaks off, in the log and the record too', async (t) => {
    const cut = JSON.stringify(PIECES.slice(0, 2)).slice(0, -20)
    const { gateway, post } = await setUp(t, asList({ isCut: true }, cut))
    const { status, body } = await post(PATH)
    const list = JSON.parse(body) as ({ error?: { code: number; status: string } } & Piece)[]
    assert.equal(status, 200)
    assert.deepEqual(list[0], PIECES[0])
    assert.ok((list.at(-1)?.error?.code ?? 0) >= 500, body)
    await failed(gateway, 'connection_lost')
  })

  test('is refused when the list has another form', async (t) => {
    const { origin, post } = await setUp(t, asEvents())
    const { status, body } = await post(`${PATH}?alt=proto`)
    assert.equal(status, 400)
    assert.match(body, /found `alt=proto`, expected `json` or `sse`/)
    assert.equal(origin.seen.length, 0)
  })
})

describe('a provider that sends a list', () => {
  test('is read as a stream by clients of every format', async (t) => {
    const { gateway, post } = await setUp(t, asList())
    const events = await post(`${PATH}?alt=sse`)
    assert.equal(events.headers['content-type'], 'text/event-stream')
    assert.deepEqual(eventsIn(events.body), PIECES)
    assert.deepEqual(JSON.parse((await post(PATH)).body), PIECES)
    const chat = JSON.stringify({
      model: 'gemini-2.5-flash',
      stream: true,
      messages: [{ role: 'user', content: 'hi' }],
    })
    const { body } = await post('/v1/chat/completions', chat)
    const said = [...body.matchAll(/^data: (\{.*)$/gm)].map(([, data = '']) => {
      const { choices } = JSON.parse(data) as { choices: { delta: { content?: string } }[] }
      return choices[0]?.delta.content ?? ''
    })
    assert.equal(said.join(''), TEXT)
    await gateway.finished(3)
    for (const { llm } of gateway.records) assert.deepEqual([llm?.inputTokens, llm?.outputTokens], [7, 3])
  })

  test('with something else in it ends in an error that client, log and record have', async (t) => {
    const list = JSON.stringify(PIECES.slice(0, 1)).replace(/\]$/, ', 7]')
    const { gateway, post } = await setUp(t, asList({}, list))
    const { body } = await post(`${PATH}?alt=sse`)
    assert.match(body, /data: \{"error":\{"code":50\d/)
    await failed(gateway, 'stream_unreadable')
  })
})
