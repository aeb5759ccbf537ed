import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { cacheOf, END, sendChat, setUp, SSE, textOf } from './testing/scene.ts'

async function setUpClients(t: TestContext, scene: Parameters<typeof setUp>[1] = {}) {
  const set = await setUp(t, scene)
  const url = `http://127.0.0.1:${set.gateway.port()}`
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'ann', maxRetries: 0 })
  const anthropic = new Anthropic({ baseURL: url, apiKey: 'ann', maxRetries: 0 })
  const google = new GoogleGenAI({ apiKey: 'ann', httpOptions: { baseUrl: url } })
  return { ...set, openai, anthropic, google }
}

const MODEL = 'gpt-test'
const messages = [{ role: 'user' as const, content: 'hi' }]
const tool = { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }

/** A call of the tool, streamed or not. */
const callTool: NonNullable<Parameters<typeof setUp>[1]>['handler'] = (seen, response) => {
  const call = { id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Bern"}' } }
  const { stream } = JSON.parse(seen.body) as { stream?: boolean }
  const base = { id: 'c', created: 1, model: MODEL }
  if (stream === true) {
    const choices = [
      { index: 0, delta: { role: 'assistant', tool_calls: [{ index: 0, ...call }] }, finish_reason: null },
    ]
    const end = [{ index: 0, delta: {}, finish_reason: 'tool_calls' }]
    const chunks = [choices, end].map((each) => ({ ...base, object: 'chat.completion.chunk', choices: each }))
    const records = chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`)
    return void response.writeHead(200, SSE).end(`${records.join('')}data: [DONE]\n\n`)
  }
  const message = { role: 'assistant', content: null, tool_calls: [call] }
  const choices = [{ index: 0, message, finish_reason: 'tool_calls' }]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ ...base, object: 'chat.completion', choices }))
}

describe('libraries of vendors get answers from the cache in their format', () => {
  test('OpenAI: whole, streamed, tool calls and embeddings', async (t) => {
    const { openai, seen } = await setUpClients(t)
    for (const outcome of ['miss', 'hit; age=0']) {
      const { data, response } = await openai.chat.completions.create({ model: MODEL, messages }).withResponse()
      assert.deepEqual([data.choices[0]?.message.content, cacheOf(response)], ['answer 1', outcome])
    }
    for (let i = 0; i < 2; i += 1) {
      let text = ''
      const stream = await openai.chat.completions.create({ model: MODEL, messages, stream: true })
      for await (const { choices, usage } of stream) {
        text += choices[0]?.delta.content ?? ''
        assert.equal(usage ?? null, null)
      }
      assert.equal(text, 'answer 2')
    }
    for (let i = 0; i < 2; i += 1) {
      const { data } = await openai.embeddings.create({ model: 'embed-test', input: 'hi', encoding_format: 'float' })
      assert.deepEqual(data[0]?.embedding, [3, 0.5])
    }
    assert.equal(seen.length, 3)
  })

  test('Google: whole and streamed', async (t) => {
    const { google, seen } = await setUpClients(t)
    for (let i = 0; i < 2; i += 1) {
      assert.equal((await google.models.generateContent({ model: MODEL, contents: 'hi' })).text, 'answer 1')
    }
    for (let i = 0; i < 2; i += 1) {
      let text = ''
      const stream = await google.models.generateContentStream({ model: MODEL, contents: 'hi' })
      for await (const piece of stream) text += piece.text ?? ''
      assert.equal(text, 'answer 2')
    }
    assert.equal(seen.length, 2)
  })

  test('OpenAI: tool calls', async (t) => {
    const { openai, seen } = await setUpClients(t, { handler: callTool })
    const tools = [{ type: 'function' as const, function: tool }]
    for (let i = 0; i < 2; i += 1) {
      const { choices } = await openai.chat.completions.create({ model: MODEL, messages, tools })
      const [call] = choices[0]?.message.tool_calls ?? []
      assert.deepEqual(call?.type === 'function' && call.function, { name: 'weather', arguments: '{"city":"Bern"}' })
    }
    for (let i = 0; i < 2; i += 1) {
      const final = await openai.chat.completions.stream({ model: MODEL, messages, tools }).finalChatCompletion()
      assert.equal(final.choices[0]?.finish_reason, 'tool_calls')
    }
    assert.equal(seen.length, 2)
  })

  test('Anthropic: an answer that another format asked for, translated', async (t) => {
    const { anthropic, seen } = await setUpClients(t)
    const request = { model: MODEL, max_tokens: 100, messages }
    for (const outcome of ['miss', 'hit; age=0']) {
      const { data, response } = await anthropic.messages.create(request).withResponse()
      const [part] = data.content
      assert.deepEqual([part?.type === 'text' && part.text, data.stop_reason], ['answer 1', 'end_turn'])
      assert.equal(cacheOf(response), outcome)
    }
    for (let i = 0; i < 2; i += 1) assert.equal(await anthropic.messages.stream(request).finalText(), 'answer 2')
    assert.equal(seen.length, 2)
  })

  test('Anthropic: tool calls, streamed', async (t) => {
    const { anthropic, seen } = await setUpClients(t, { handler: callTool })
    const { name, parameters } = tool
    const tools = [{ name, input_schema: { ...parameters, type: 'object' as const } }]
    for (let i = 0; i < 2; i += 1) {
      const final = await anthropic.messages.stream({ model: MODEL, max_tokens: 100, messages, tools }).finalMessage()
      const [part] = final.content
      assert.deepEqual(part?.type === 'tool_use' && part.input, { city: 'Bern' })
    }
    assert.equal(seen.length, 1)
  })
})

describe('guards', () => {
  const mask = (phase: string) => ({
    promptGuard: { [phase]: [{ regex: { action: 'Mask', matches: ['secret-\\d+'] } }] },
  })
  const secret = (id: number) => ({ messages: [{ role: 'user', content: `my secret-${id}` }] })

  test('run on requests before the key is made: equal masked prompts share an answer', async (t) => {
    const { chat, seen } = await setUp(t, { ai: mask('request') })
    assert.equal(cacheOf(await chat(secret(1))), 'miss')
    assert.equal(cacheOf(await chat(secret(2))), 'hit; age=0')
    assert.doesNotMatch(seen[0]?.body ?? '', /secret-/)
  })

  for (const stream of [false, true]) {
    test(`see each answer from the cache, ${stream ? 'streamed' : 'whole'}`, async (t) => {
      const { chat, gateway, config, seen } = await setUp(t, {
        handler: (request, response) => {
          if (!request.body.includes('"stream":true')) return sendChat(response, 'the secret-1')
          const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: MODEL }
          const choices = [{ index: 0, delta: { content: 'the secret-1' }, finish_reason: null }]
          response.writeHead(200, SSE).end(`data: ${JSON.stringify({ ...chunk, choices })}\n\n${END}`)
        },
      })
      assert.match(textOf(await chat({ stream })), /secret-1/)
      // A guard that is new finds the answer that was stored without it.
      const text = JSON.stringify(config)
      const guard = JSON.stringify(mask('response')).slice(1, -1)
      await gateway.reload(text.replace('"ai":{"cache"', `"ai":{${guard},"cache"`))
      for (let i = 0; i < 2; i += 1) {
        const answer = await chat({ stream })
        assert.equal(cacheOf(answer), 'hit; age=0')
        assert.doesNotMatch(answer.body, /secret-1/)
      }
      assert.equal(seen.length, 1)
    })
  }
})
