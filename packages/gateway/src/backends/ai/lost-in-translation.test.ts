import assert from 'node:assert/strict'
import OpenAI from 'openai'
import { describe, test, type TestContext } from 'node:test'
import Anthropic, { APIError } from '@anthropic-ai/sdk'
import { request } from '../../testing/client.ts'
import type { OriginHandler } from '../../testing/origin.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'

/** Every field of a request reaches a provider of another format, or is named in the trace or in a 400. */

const completion = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'well' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}
const generated = { candidates: [{ content: { role: 'model', parts: [{ text: 'well' }] }, finishReason: 'STOP' }] }
const conversed = {
  output: { message: { role: 'assistant', content: [{ text: 'well' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
}
const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'well' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}

const providers: Readonly<Record<string, readonly [config: object, answer: object]>> = {
  openai: [{ openai: {} }, completion],
  gemini: [{ gemini: {} }, generated],
  bedrock: [{ bedrock: {} }, conversed],
}

async function setUp(t: TestContext, config: object, answer: object) {
  const handler: OriginHandler = (_seen, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }
  const origin = await useOrigin(t, handler)
  const provider = { ...config, host: '127.0.0.1', port: origin.port }
  const route = { policies: { backend: { auth: { key: 'sk' } } }, backends: [{ ai: { provider } }] }
  const gateway = await useGateway(t, httpConfig([route]))
  const post = (path: string, body: object) =>
    request(gateway.port(), { method: 'POST', path, body: JSON.stringify(body) })
  return { origin, gateway, post }
}

const asked = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }] }
const user = (...content: object[]) => ({ ...asked, messages: [{ role: 'user', content }] })
const result = (...content: object[]) => ({
  ...asked,
  messages: [
    { role: 'user', content: 'find it' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'find', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content }] },
  ],
  tools: [{ name: 'find', input_schema: { type: 'object' } }],
})
const search = {
  type: 'search_result',
  title: 'The atlas',
  source: 'https://atlas.example',
  content: [{ type: 'text', text: 'Atlantis lies west.' }],
}
const blocks = {
  type: 'document',
  title: 'Log book',
  context: 'of the ship',
  source: { type: 'content', content: [{ type: 'text', text: 'Land ahoy.' }] },
}
const plainText = { ...blocks, source: { type: 'text', media_type: 'text/plain', data: 'Land ahoy.' } }

for (const [name, [config, answer]] of Object.entries(providers)) {
  describe(`a Messages client of ${name}`, () => {
    const texts: Readonly<Record<string, readonly [body: object, words: readonly string[]]>> = {
      'a search result': [user(search), ['The atlas', 'https://atlas.example', 'Atlantis lies west.']],
      'a search result of a tool': [result(search), ['The atlas', 'https://atlas.example', 'Atlantis lies west.']],
      'a document of blocks': [user(blocks), ['Log book', 'of the ship', 'Land ahoy.']],
      'a document of blocks of a tool': [result(blocks), ['Log book', 'of the ship', 'Land ahoy.']],
      'a document of one text': [
        user({ ...blocks, source: { type: 'content', content: 'Land ahoy.' } }),
        ['Log book', 'Land ahoy.'],
      ],
      'a document of text of a tool': [result(plainText), ['Log book', 'of the ship', 'Land ahoy.']],
      'a summary of what was said before': [
        user({ type: 'compaction', content: 'We sailed west.' }),
        ['We sailed west.'],
      ],
      'what a tool of the provider found': [
        user({ type: 'bash_code_execution_tool_result', tool_use_id: 's', content: { stdout: 'Land ahoy.' } }),
        ['Land ahoy.'],
      ],
    }
    for (const [what, [body, words]] of Object.entries(texts)) {
      test(`${what} arrives as text`, async (t) => {
        const { origin, post } = await setUp(t, config, answer)
        const { status, body: told } = await post('/v1/messages', body)
        assert.equal(status, 200, told)
        const sent = origin.seen[0]?.body ?? ''
        for (const word of words) assert.ok(sent.includes(word), `${word}: ${sent}`)
        if (body === texts['a search result of a tool']![0]) assert.doesNotMatch(sent, /"content":(?:""|\[\])/)
      })
    }

    test('a block that nobody knows is a 400, and so is one that means something elsewhere only', async (t) => {
      const { origin, post } = await setUp(t, config, answer)
      for (const block of [
        { type: 'hologram', text: 'hi' },
        { type: 'container_upload', file_id: 'file_1' },
        { type: 'tool_removal', tool: { type: 'tool_reference', name: 'f' } },
      ]) {
        const { status, body } = await post('/v1/messages', user(block))
        assert.equal(status, 400, body)
        assert.match(body, new RegExp(block.type))
      }
      assert.equal(origin.seen.length, 0)
    })

    test('a member that nobody knows is a loss, one that changes the meaning a 400', async (t) => {
      const { origin, gateway, post } = await setUp(t, config, answer)
      const traced = gateway.trace()
      assert.equal((await post('/v1/messages', { ...asked, mood: 'merry' })).status, 200)
      assert.match(JSON.stringify(await traced), /"path":"mood","note":"unknown member"/)
      for (const member of [{ mcp_servers: [{ name: 'a' }] }, { container: 'c' }, { inference_geo: 'eu' }]) {
        const { status, body } = await post('/v1/messages', { ...asked, ...member })
        assert.equal(status, 400)
        assert.ok(body.includes(Object.keys(member)[0]!), body)
      }
      assert.equal(origin.seen.length, 1)
    })

    test('a thread is refused as the library expects, and goes on without one where the caller says so', async (t) => {
      const { origin, gateway } = await setUp(t, config, answer)
      const baseURL = `http://127.0.0.1:${gateway.port()}`
      const client = new Anthropic({ baseURL, apiKey: 'k', maxRetries: 0 })
      const strict = client.beta.messages.thread({ model: 'm', max_tokens: 9 })
      const error = await strict.send({ role: 'user', content: 'first' }).catch((cause: unknown) => cause)
      assert.ok(error instanceof APIError)
      assert.equal(error.status, 400)
      assert.deepEqual((error.error as { error: { details: unknown } }).error.details, {
        error_code: 'thread_unsupported_request',
      })
      assert.equal(origin.seen.length, 0)
      const lenient = client.beta.messages.thread({
        model: 'm',
        max_tokens: 9,
        unsupportedRequestBehavior: 'continue_unthreaded',
      })
      await lenient.send({ role: 'user', content: 'my name is Ann' })
      await lenient.send({ role: 'user', content: 'who am I?' })
      const last = origin.seen.at(-1)?.body ?? ''
      assert.ok(last.includes('my name is Ann') && last.includes('well') && last.includes('who am I?'), last)
    })
  })
}

describe('a thread to its own vendor', () => {
  test('passes as it is', async (t) => {
    const { origin, post } = await setUp(t, { anthropic: {} }, message)
    const body = { ...asked, thread: { type: 'continue', previous_message_id: 'msg_0' } }
    assert.equal((await post('/v1/messages', body)).status, 200)
    assert.equal(origin.seen[0]?.body, JSON.stringify(body))
  })
})

describe('other clients of a provider of Messages', () => {
  test('members that change the meaning are a 400, others a loss', async (t) => {
    const { origin, gateway, post } = await setUp(t, { anthropic: {} }, message)
    const chat = (more: object) => post('/v1/chat/completions', { ...asked, ...more })
    const respond = (more: object) => post('/v1/responses', { model: 'm', input: 'hi', ...more })
    for (const [send, member] of [
      [chat, { n: 2 }],
      [chat, { modalities: ['text', 'audio'] }],
      [chat, { moderation: { model: 'm' } }],
      [chat, { response_format: { type: 'grammar' } }],
      [respond, { previous_response_id: 'r' }],
      [respond, { conversation: 'c' }],
      [respond, { prompt: { id: 'p' } }],
      [respond, { background: true }],
      [respond, { moderation: { model: 'm' } }],
      [respond, { input: [{ type: 'compaction', encrypted_content: 'x' }] }],
      [respond, { input: [{ role: 'user', content: [{ type: 'input_hologram' }] }] }],
    ] as const) {
      const { status, body } = await send(member)
      assert.equal(status, 400, `${JSON.stringify(member)}: ${body}`)
    }
    assert.equal(origin.seen.length, 0)
    const traced = gateway.trace()
    const harmless = { n: 1, modalities: ['text'], store: true, logit_bias: { 5: 1 }, mood: 'merry', moderation: null }
    assert.equal((await chat(harmless)).status, 200)
    const told = JSON.stringify(await traced)
    for (const name of ['store', 'logit_bias', 'mood']) assert.ok(told.includes(`"path":"${name}"`), name)
    assert.ok(!told.includes('"path":"n"') && !told.includes('"path":"modalities"'))
  })

  test('shell output arrives as text', async (t) => {
    const { origin, post } = await setUp(t, { anthropic: {} }, message)
    const input = [
      { role: 'user', content: 'look' },
      { type: 'shell_call', call_id: 'c', action: { commands: ['ls'] }, status: 'completed' },
      { type: 'shell_call_output', call_id: 'c', output: [{ stdout: 'ahoy.txt', stderr: '' }] },
    ]
    assert.equal((await post('/v1/responses', { model: 'm', input })).status, 200)
    assert.match(origin.seen[0]?.body ?? '', /ahoy\.txt/)
  })
})

describe('functions of old', () => {
  const functions = [{ name: 'find', description: 'finds', parameters: { type: 'object', properties: {} } }]
  const called = {
    ...message,
    content: [{ type: 'tool_use', id: 't1', name: 'find', input: { a: 1 } }],
    stop_reason: 'tool_use',
  }

  test('become tools, and the call comes back as one of old', async (t) => {
    const { origin, post } = await setUp(t, { anthropic: {} }, called)
    const { status, body } = await post('/v1/chat/completions', {
      ...asked,
      functions,
      function_call: { name: 'find' },
    })
    assert.equal(status, 200, body)
    const sent = JSON.parse(origin.seen[0]?.body ?? '') as { tools: { name: string }[]; tool_choice: object }
    assert.deepEqual(
      sent.tools.map(({ name }) => name),
      ['find'],
    )
    assert.deepEqual(sent.tool_choice, { type: 'tool', name: 'find', disable_parallel_tool_use: true })
    const { choices } = JSON.parse(body) as { choices: { message: object; finish_reason: string }[] }
    const { message: said, finish_reason } = choices[0]!
    assert.deepEqual(said, {
      role: 'assistant',
      content: null,
      refusal: null,
      function_call: { name: 'find', arguments: '{"a":1}' },
    })
    assert.equal(finish_reason, 'function_call')
  })

  test("come back in a stream that the vendor's library reads", async (t) => {
    const event = (value: { type: string; [name: string]: unknown }) =>
      `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
    const { content: _content, ...head } = called
    const pieces = ['{"a"', ':1', '}'].map((partial_json) =>
      event({ type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json } }),
    )
    const stream = [
      event({ type: 'message_start', message: { ...head, content: [], stop_reason: null } }),
      event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'I look.' } }),
      event({ type: 'content_block_stop', index: 0 }),
      event({ type: 'content_block_start', index: 1, content_block: { ...called.content[0], input: {} } }),
      ...pieces,
      event({ type: 'content_block_stop', index: 1 }),
      event({ type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } }),
      event({ type: 'message_stop' }),
    ].join('')
    const origin = await useOrigin(t, (_seen, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream)
    })
    const provider = { anthropic: {}, host: '127.0.0.1', port: origin.port }
    const route = { policies: { backend: { auth: { key: 'sk' } } }, backends: [{ ai: { provider } }] }
    const gateway = await useGateway(t, httpConfig([route]))
    const client = new OpenAI({ apiKey: 'k', baseURL: `http://127.0.0.1:${gateway.port()}/v1`, maxRetries: 0 })
    const heard = client.chat.completions.stream({
      model: 'm',
      messages: [{ role: 'user', content: 'find' }],
      functions,
    })
    const { choices } = await heard.finalChatCompletion()
    assert.equal(choices[0]!.finish_reason, 'function_call')
    const { content, function_call, tool_calls } = choices[0]!.message
    assert.deepEqual(
      [content, function_call, tool_calls],
      ['I look.', { name: 'find', arguments: '{"a":1}' }, undefined],
    )
  })

  test('a choice among some tools leaves the others out', async (t) => {
    const { origin, post } = await setUp(t, { anthropic: {} }, message)
    const tools = ['find', 'sink'].map((name) => ({ type: 'function', function: { name, parameters: {} } }))
    const allowed_tools = { mode: 'required', tools: [{ type: 'function', function: { name: 'find' } }] }
    const choice = { type: 'allowed_tools', allowed_tools }
    const { status, body } = await post('/v1/chat/completions', { ...asked, tools, tool_choice: choice })
    assert.equal(status, 200, body)
    const sent = JSON.parse(origin.seen[0]?.body ?? '') as { tools: { name: string }[]; tool_choice: object }
    assert.deepEqual(
      sent.tools.map(({ name }) => name),
      ['find'],
    )
    assert.deepEqual(sent.tool_choice, { type: 'any' })
  })
})

describe('a text file without a type', () => {
  const file = { type: 'file', file: { filename: 'notes.md', file_data: Buffer.from('# ahoy').toString('base64') } }
  for (const [name, config, answer, expected] of [
    ['anthropic', { anthropic: {} }, message, /"data":"# ahoy"/],
    ['gemini', { gemini: {} }, generated, /"mimeType":"text\/markdown"/],
    ['bedrock', { bedrock: {} }, conversed, /"format":"md"/],
  ] as const) {
    test(`is known by its name to ${name}`, async (t) => {
      const { origin, post } = await setUp(t, config, answer)
      const content = [{ type: 'text', text: 'read' }, file]
      const { status, body } = await post('/v1/chat/completions', { model: 'm', messages: [{ role: 'user', content }] })
      assert.equal(status, 200, body)
      assert.match(origin.seen[0]?.body ?? '', expected)
    })
  }
})
