import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import { clientFormats, type Loss, UnsupportedField, upstreamFormats } from '@portico/chat'
import { encodeStream, responseContext } from '../../../../chat/src/testing/exchange.ts'
import { request } from '../../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

/** Web search, which every vendor has as its own tool, and the sources that responses cite. */

const text = 'Zürich is large. Bern is small.'
const grounded = {
  candidates: [
    {
      content: { role: 'model', parts: [{ text }] },
      finishReason: 'STOP',
      groundingMetadata: {
        groundingChunks: [{ web: { uri: 'https://a.example', title: 'A' } }],
        groundingSupports: [{ segment: { startIndex: 18, endIndex: 32 }, groundingChunkIndices: [0] }],
      },
    },
  ],
}
const found = {
  type: 'web_search_result_location',
  url: 'https://a.example',
  title: 'A',
  cited_text: 'x',
  encrypted_index: 'e',
}
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [
    { type: 'server_tool_use', id: 's', name: 'web_search', input: { query: 'towns' } },
    { type: 'web_search_tool_result', tool_use_id: 's', content: [] },
    { type: 'text', text: text.slice(0, 17) },
    { type: 'text', text: text.slice(17), citations: [found] },
  ],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

async function setUp(t: TestContext, config: object, answer: object, ai: object = {}) {
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  const provider = { ...config, host: '127.0.0.1', port: origin.port }
  const route = { policies: { backend: { auth: { key: 'sk' }, ai } }, backends: [{ ai: { provider } }] }
  const gateway = await useGateway(t, httpConfig([route]))
  const post = async (path: string, body: object) => {
    const { status, body: told } = await request(gateway.port(), { method: 'POST', path, body: JSON.stringify(body) })
    assert.equal(status, 200, told)
    return {
      told: JSON.parse(Buffer.from(told, 'latin1').toString()) as Answer,
      sent: JSON.parse(origin.seen.at(-1)!.body) as { tools?: object[] },
    }
  }
  return { origin, gateway, post }
}

interface Answer {
  choices: { message: { content: string; annotations?: object[] } }[]
  output: { content?: { text: string; annotations: object[] }[] }[]
}

const messages = [{ role: 'user', content: 'towns?' }]
const location = { type: 'approximate', country: 'CH' }
const asked: Readonly<Record<string, readonly [path: string, body: object]>> = {
  responses: [
    '/v1/responses',
    { model: 'm', input: 'towns?', tools: [{ type: 'web_search', user_location: location }] },
  ],
  completions: [
    '/v1/chat/completions',
    {
      model: 'm',
      messages,
      web_search_options: { user_location: { type: 'approximate', approximate: { country: 'CH' } } },
    },
  ],
}
const source = { start_index: 17, end_index: 31, url: 'https://a.example', title: 'A' }

describe('web search of another vendor', () => {
  for (const [client, [path, body]] of Object.entries(asked)) {
    for (const [name, config, answer, tool] of [
      ['gemini', { gemini: {} }, grounded, { googleSearch: {} }],
      [
        'anthropic',
        { anthropic: {} },
        message,
        { type: 'web_search_20250305', name: 'web_search', user_location: location },
      ],
    ] as const) {
      test(`${name} searches for a client of ${client}, which gets the sources`, async (t) => {
        const { post } = await setUp(t, config, answer)
        const { told, sent } = await post(path, body)
        assert.deepEqual(sent.tools, [tool])
        if (client === 'completions') {
          const { content, annotations } = told.choices[0]!.message
          assert.equal(content, text)
          assert.deepEqual(annotations, [{ type: 'url_citation', url_citation: source }])
        } else {
          const said = told.output.flatMap(({ content = [] }) => content)
          assert.equal(said[0]!.text, text)
          assert.deepEqual(said[0]!.annotations, [{ type: 'url_citation', ...source }])
        }
      })
    }
  }

  test('a Messages client has Responses search', () => {
    const tools = [{ type: 'web_search_20250305', name: 'web_search', allowed_domains: ['a.example'] }]
    const decoded = clientFormats.messages.decodeRequest({ model: 'm', max_tokens: 9, messages, tools })
    assert.ok(!(decoded instanceof UnsupportedField))
    const target = { model: 'm', quirks: new Set<string>(), toolNames: new Map<string, string>() }
    const losses: Loss[] = []
    const encoded = upstreamFormats.responses.encodeRequest(decoded, target, losses)
    assert.ok(!(encoded instanceof UnsupportedField))
    assert.deepEqual(encoded.tools, [{ type: 'web_search', filters: { allowed_domains: ['a.example'] } }])
    assert.deepEqual(losses, [])
  })

  test('an older Gemini searches or calls functions, not both', async (t) => {
    const { gateway, post } = await setUp(t, { gemini: {} }, grounded)
    const tools = [{ type: 'web_search' }, { type: 'function', name: 'f', parameters: { type: 'object' } }]
    const traced = gateway.trace()
    const { sent } = await post('/v1/responses', { model: 'gemini-2.5-pro', input: 'towns?', tools })
    assert.equal(JSON.stringify(sent.tools).includes('googleSearch'), false)
    assert.match(JSON.stringify(await traced), /web search cannot be combined with functions/)
    const newer = await post('/v1/responses', { model: 'gemini-3-pro', input: 'towns?', tools })
    assert.equal(JSON.stringify(newer.sent.tools).includes('googleSearch'), true)
  })
})

describe("sources that the client's format cannot express are in the trace", () => {
  const cited = { type: 'url_citation', url_citation: source }
  const completion = {
    id: 'c',
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: text, annotations: [cited] }, finish_reason: 'stop' }],
  }
  const chunk = (delta: object, finish_reason: string | null) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const streamed = `${chunk({ content: text }, null)}${chunk({ annotations: [cited] }, 'stop')}data: [DONE]\n\n`
  const quoted = { type: 'char_location', cited_text: 'x', document_index: 0, start_char_index: 0, end_char_index: 1 }
  const quoting = { ...message, content: [...message.content.slice(0, 2), { type: 'text', text, citations: [quoted] }] }
  const ofSources = { what: 'dropped', path: 'content[].citations', note: 'sources that another vendor named' }
  const cases: [
    name: string,
    config: object,
    answer: object | string,
    call: readonly [string, object],
    losses: object[],
  ][] = [
    ['Gemini to Messages', { gemini: {} }, grounded, ['/v1/messages', {}], [ofSources]],
    ['Chat Completions to Messages', { openai: {} }, completion, ['/v1/messages', {}], [ofSources]],
    ['a stream to Messages', { openai: {} }, streamed, ['/v1/messages', { stream: true }], [ofSources]],
    [
      'Claude to Chat Completions',
      { anthropic: {} },
      quoting,
      ['/v1/chat/completions', {}],
      [
        { what: 'dropped', path: 'content[]', note: 'server_tool_use' },
        { what: 'dropped', path: 'content[]', note: 'web_search_tool_result' },
        { what: 'dropped', path: 'annotations', note: 'sources without an address' },
      ],
    ],
  ]
  for (const [name, config, answer, [path, more], losses] of cases) {
    test(name, async (t) => {
      const origin = await useOrigin(t, (_seen, response) => {
        const type = typeof answer === 'string' ? 'text/event-stream' : 'application/json'
        response.writeHead(200, { 'content-type': type })
        response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
      })
      const provider = { ...config, host: '127.0.0.1', port: origin.port }
      const route = { policies: { backend: { auth: { key: 'sk' } } }, backends: [{ ai: { provider } }] }
      const gateway = await useGateway(t, httpConfig([route]))
      const traced = gateway.trace()
      const body = JSON.stringify({ model: 'm', max_tokens: 9, messages, ...more })
      assert.equal((await request(gateway.port(), { method: 'POST', path, body })).status, 200)
      const told = (await traced).filter((event) => event.message.type === 'llmAnswerLosses')
      assert.deepEqual(
        told.map((event) => event.message['losses']),
        [losses],
      )
    })
  }
})

describe('probabilities of tokens', () => {
  const logprobsResult = {
    chosenCandidates: [{ token: 'Zü', logProbability: -0.1 }],
    topCandidates: [
      {
        candidates: [
          { token: 'Zü', logProbability: -0.1 },
          { token: 'Be', logProbability: -2 },
        ],
      },
    ],
  }
  const answer = {
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', logprobsResult }],
  }
  const token = (word: string, logprob: number) => ({ token: word, logprob, bytes: [...Buffer.from(word)] })
  const content = [{ ...token('Zü', -0.1), top_logprobs: [token('Zü', -0.1), token('Be', -2)] }]

  test('come from Gemini to a client of Chat Completions', async (t) => {
    const { gateway, post } = await setUp(t, { gemini: {} }, answer)
    const traced = gateway.trace()
    const { told, sent } = await post('/v1/chat/completions', { model: 'm', messages, logprobs: true, top_logprobs: 2 })
    assert.deepEqual((sent as { generationConfig?: object }).generationConfig, { responseLogprobs: true, logprobs: 2 })
    assert.deepEqual((told.choices[0] as { logprobs?: object }).logprobs, { content, refusal: null })
    assert.ok(!JSON.stringify(await traced).includes('"path":"logprobs"'))
  })

  test('go where a guard masked the text that they spell', async (t) => {
    const promptGuard = { response: [{ regex: { matches: ['Zürich'] } }] }
    const { post } = await setUp(t, { gemini: {} }, answer, { promptGuard })
    const { told } = await post('/v1/chat/completions', { model: 'm', messages, logprobs: true })
    assert.equal(told.choices[0]!.message.content, '<masked> is large. Bern is small.')
    assert.equal((told.choices[0] as { logprobs?: object | null }).logprobs, null)
  })

  test('come in a stream too', () => {
    const context = responseContext()
    const events = upstreamFormats.gemini.decodeResponse(answer, context) ?? assert.fail()
    const chunks = encodeStream(clientFormats.completions, events, context)
    assert.ok(chunks.includes(`"logprobs":${JSON.stringify({ content, refusal: null })}`), chunks)
  })
})
