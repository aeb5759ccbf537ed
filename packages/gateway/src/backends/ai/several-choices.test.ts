import assert from 'node:assert/strict'
import OpenAI, { APIError } from 'openai'
import { describe, test, type TestContext } from 'node:test'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

/** Chat Completions clients that ask Gemini for several choices with `n`. */

const candidate = (index: number, text: string, finishReason?: string) => ({
  index,
  content: { role: 'model', parts: [{ text }] },
  ...(finishReason !== undefined && { finishReason }),
})
const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 6, totalTokenCount: 10 }
const asked = { model: 'gemini-2.5-flash', n: 3, messages: [{ role: 'user' as const, content: 'hi' }] }

interface Wire {
  whole?: object
  records?: readonly object[]
  policies?: object
}

async function setUp(t: TestContext, { whole, records = [], policies = {} }: Wire) {
  const handler: OriginHandler = (_seen, response) => {
    const type = whole === undefined ? 'text/event-stream' : 'application/json'
    const streamed = records.map((record) => `data: ${JSON.stringify(record)}\r\n\r\n`).join('')
    response.writeHead(200, { 'content-type': type }).end(whole === undefined ? streamed : JSON.stringify(whole))
  }
  const origin = await useOrigin(t, handler)
  const provider = { gemini: {}, host: '127.0.0.1', port: origin.port }
  const route = { policies: { backend: { auth: { key: 'sk' }, ...policies } }, backends: [{ ai: { provider } }] }
  const gateway = await useGateway(t, httpConfig([route]))
  const client = new OpenAI({ baseURL: `http://127.0.0.1:${gateway.port()}/v1`, apiKey: 'none', maxRetries: 0 })
  return { origin, client }
}

/** The texts and finish reasons that the SDK reads from a stream, by choice. */
async function streamed(client: OpenAI): Promise<{ texts: string[]; reasons: (string | null)[] }> {
  const texts: string[] = []
  const reasons: (string | null)[] = []
  for await (const chunk of await client.chat.completions.create({ ...asked, stream: true })) {
    for (const { index, delta, finish_reason } of chunk.choices) {
      texts[index] = (texts[index] ?? '') + (delta.content ?? '')
      if (finish_reason !== null) reasons[index] = finish_reason
    }
  }
  return { texts, reasons }
}

const masking = { ai: { promptGuard: { response: [{ regex: { matches: ['secret'] } }] } } }

describe('several choices of Gemini', () => {
  test('a whole response has one choice for each candidate', async (t) => {
    const candidates = [
      candidate(0, 'one', 'STOP'),
      candidate(1, 'two', 'MAX_TOKENS'),
      { index: 2, finishReason: 'SAFETY' },
    ]
    const { origin, client } = await setUp(t, { whole: { candidates, usageMetadata } })
    const completion = await client.chat.completions.create(asked)
    const choices = completion.choices.map(({ index, message, finish_reason }) => [
      index,
      message.content,
      finish_reason,
    ])
    assert.deepEqual(choices, [
      [0, 'one', 'stop'],
      [1, 'two', 'length'],
      [2, null, 'content_filter'],
    ])
    assert.equal(completion.usage?.completion_tokens, 6)
    const sent = JSON.parse(origin.seen[0]?.body ?? '{}') as { generationConfig?: object }
    assert.deepEqual(sent.generationConfig, { candidateCount: 3 })
  })

  test('a stream interleaves the candidates', async (t) => {
    const records = [
      { candidates: [candidate(0, 'o')] },
      { candidates: [candidate(1, 't'), candidate(0, 'ne', 'STOP')] },
      { candidates: [candidate(1, 'wo', 'MAX_TOKENS')] },
      { candidates: [{ index: 2, finishReason: 'SAFETY' }], usageMetadata },
    ]
    const { client } = await setUp(t, { records })
    assert.deepEqual(await streamed(client), {
      texts: ['one', 'two', ''],
      reasons: ['stop', 'length', 'content_filter'],
    })
  })

  test('guards examine every choice', async (t) => {
    const candidates = [candidate(0, 'plain', 'STOP'), candidate(1, 'a secret', 'STOP')]
    const whole = await setUp(t, { whole: { candidates }, policies: masking })
    const completion = await whole.client.chat.completions.create(asked)
    assert.equal(completion.choices.length, 2)
    assert.doesNotMatch(JSON.stringify(completion), /secret/)
    const records = [{ candidates: [candidate(1, 'a sec')] }, { candidates: [candidate(0, 'plain', 'STOP')] }]
    const rest = { candidates: [candidate(1, 'ret', 'STOP')] }
    const stream = await setUp(t, { records: [...records, rest], policies: masking })
    const { texts } = await streamed(stream.client)
    assert.equal(texts[0], 'plain')
    assert.match(texts[1] ?? '', /^a /)
    assert.doesNotMatch(texts[1] ?? '', /secret/)
  })

  test('a stream that ends before one of the candidates has finished is an error', async (t) => {
    const records = [{ candidates: [candidate(0, 'one', 'STOP'), candidate(1, 'tw')] }]
    const { client } = await setUp(t, { records })
    await assert.rejects(streamed(client), APIError)
  })

  test('candidates that nobody asked for are left out', async (t) => {
    const candidates = [candidate(0, 'one', 'STOP'), candidate(7, 'eight', 'STOP'), candidate(-1, 'none', 'STOP')]
    const { client } = await setUp(t, { whole: { candidates } })
    const { choices } = await client.chat.completions.create(asked)
    assert.deepEqual(
      choices.map(({ message }) => message.content),
      ['one'],
    )
  })
})
