import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { ServerResponse } from 'node:http'
import * as fc from 'fast-check'
import OpenAI from 'openai'
import { request } from '../../testing/client.ts'
import { cacheOf, respond, sendChat, textOf } from '../testing/scene.ts'
import { inputOf, setUpSemantic } from './testing/scene.ts'

function sendResponse(response: ServerResponse): void {
  const content = [{ type: 'output_text', text: 'hi', annotations: [] }]
  const output = [{ type: 'message', id: 'm', role: 'assistant', status: 'completed', content }]
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const body = { id: 'r', object: 'response', status: 'completed', model: 'gpt-test', output, usage }
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
}

describe('a similar request', () => {
  for (const stream of [false, true]) {
    test(`gets the stored answer, ${stream ? 'as a stream' : 'as a whole'}`, async (t) => {
      const { say, seen, embedded } = await setUpSemantic(t)
      const first = await say('what is the capital?', { stream })
      const second = await say('which city is the capital!', { stream })
      assert.deepEqual([cacheOf(first), cacheOf(second)], ['miss', 'hit; age=0; similarity=0.9961'])
      assert.equal(second.body, first.body)
      assert.deepEqual([textOf(first), seen.length], ['answer 1', 1])
      assert.deepEqual(embedded.map(inputOf), ['what is the capital?', 'which city is the capital!'])
      assert.equal(embedded[0]?.headers.authorization, 'Bearer embedder')
      assert.deepEqual(JSON.parse(embedded[0]?.body ?? ''), { model: 'embed-test', input: 'what is the capital?' })
    })
  }

  test('is told to the openai SDK', async (t) => {
    const { gateway, seen } = await setUpSemantic(t)
    const client = new OpenAI({ apiKey: 'ann', baseURL: `http://127.0.0.1:${gateway.port()}/v1`, maxRetries: 0 })
    const ask = (content: string) =>
      client.chat.completions.create({ model: 'gpt-test', messages: [{ role: 'user', content }] }).withResponse()
    await ask('a question')
    const { data, response } = await ask('the question')
    assert.equal(data.choices[0]?.message.content, 'answer 1')
    assert.equal(response.headers.get('x-portico-cache'), 'hit; age=0; similarity=1')
    assert.equal(seen.length, 1)
  })

  test('gets the answer to the nearest one', async (t) => {
    const { say } = await setUpSemantic(t, { semantic: { threshold: 0.99 } })
    await say('far')
    await say('near!!!')
    const answer = await say('asked!!!!')
    assert.deepEqual([textOf(answer), cacheOf(answer)], ['answer 2', 'hit; age=0; similarity=0.9961'])
  })

  test('in the form of Messages or of Responses gets the answer, too', async (t) => {
    const { ask, seen } = await setUpSemantic(t, {
      handler: ({ url }, response) => (url.endsWith('/responses') ? sendResponse(response) : sendChat(response, 'hi')),
    })
    const bodies = {
      '/v1/messages': (content: string) => ({ max_tokens: 9, messages: [{ role: 'user', content }] }),
      '/v1/responses': (input: string) => ({ store: false, input }),
    }
    for (const [path, bodyOf] of Object.entries(bodies)) {
      await ask(path, { model: 'gpt-test', ...bodyOf('one') })
      const { status, headers } = await ask(path, { model: 'gpt-test', ...bodyOf('two!') })
      assert.deepEqual([status, headers['x-portico-cache']], [200, 'hit; age=0; similarity=0.9961'], path)
    }
    assert.equal(seen.length, 2)
  })

  test('asks the provider below the threshold, and is stored for others', async (t) => {
    const { say, seen } = await setUpSemantic(t)
    await say('one')
    assert.equal(cacheOf(await say('two!!!!')), 'miss')
    assert.equal(cacheOf(await say('three!!!!!!')), 'hit; age=0; similarity=0.9848')
    assert.equal(seen.length, 2)
  })

  test('may follow equal turns of a conversation', async (t) => {
    const { chat } = await setUpSemantic(t)
    const turns = (earlier: string, last: string) => ({
      messages: [
        { role: 'system', content: 'be brief' },
        { role: 'user', content: earlier },
        { role: 'assistant', content: 'yes' },
        { role: 'user', content: last },
      ],
    })
    await chat(turns('is it?', 'why?'))
    assert.equal(cacheOf(await chat(turns('is it?', 'why!'))), 'hit; age=0; similarity=0.9961')
    assert.equal(cacheOf(await chat(turns('is this?', 'why!'))), 'miss')
  })
})

describe('a request is not similar', () => {
  const others: Record<string, { text?: string; body?: object; headers?: Record<string, string> }> = {
    'with another model': { body: { model: 'gpt-other' } },
    'with another parameter': { body: { max_tokens: 5 } },
    'with an unknown member': { body: { extra: { a: 1 } } },
    'as a stream': { body: { stream: true } },
    'of another tenant': { headers: { authorization: 'Bearer bob' } },
    'with another number in the text': { text: 'order 8' },
    'with another format of the answer': { body: { response_format: { type: 'json_object' } } },
  }
  for (const [name, { text = 'order 7!', body = {}, headers = {} }] of Object.entries(others)) {
    test(name, async (t) => {
      const { say, seen, gateway } = await setUpSemantic(t)
      await say('order 7')
      assert.equal(cacheOf(await say(text, body, headers)), 'miss')
      assert.equal(seen.length, 2)
      await gateway.finished(2)
      assert.deepEqual(gateway.recorded()[0]?.llm?.cache?.search?.similarity, undefined)
      assert.equal(cacheOf(await say('order 7!!')), 'hit; age=0; similarity=0.9848')
    })
  }

  test('with another system prompt, or another value of `key`', async (t) => {
    const { chat } = await setUpSemantic(t, { cache: { key: 'request.headers["x-tone"]' } })
    const withSystem = (system: string, content: string) => ({
      messages: [
        { role: 'system', content: system },
        { role: 'user', content },
      ],
    })
    const [dry, warm] = [{ 'x-tone': 'dry' }, { 'x-tone': 'warm' }]
    await chat(withSystem('be brief', 'one'), dry)
    assert.equal(cacheOf(await chat(withSystem('be long', 'two'), dry)), 'miss')
    assert.equal(cacheOf(await chat(withSystem('be brief', 'two'), warm)), 'miss')
    assert.equal(cacheOf(await chat(withSystem('be brief', 'two'), dry)), 'hit; age=0; similarity=1')
  })

  test('after the time to live, or when the client wants a younger answer', async (t) => {
    const clock = { now: Date.now() }
    const { say } = await setUpSemantic(t, { cache: { ttl: '1m' }, options: { clock: () => clock.now } })
    await say('one')
    assert.equal(cacheOf(await say('two', {}, { 'cache-control': 'max-age=0' })), 'miss')
    assert.equal(cacheOf(await say('three', {}, { 'cache-control': 'no-cache' })), 'miss')
    assert.equal(cacheOf(await say('four', {}, { 'cache-control': 'max-age=30' })), 'hit; age=0; similarity=1')
  })
})

describe('a request is not compared', () => {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
  const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
  const user = (content: unknown) => ({ messages: [{ role: 'user', content }] })
  const cases: Record<string, { body: object; skipped: string }> = {
    'with tools': { body: { tools: [tool] }, skipped: 'tools' },
    'with an image': { body: user([{ type: 'text', text: 'what is it?' }, image]), skipped: 'media' },
    'with a text that is too long': { body: user('word '.repeat(500)), skipped: 'too-long' },
    'with two texts': {
      body: user([
        { type: 'text', text: 'one' },
        { type: 'text', text: 'two' },
      ]),
      skipped: 'no-user-text',
    },
    'with a number that a double cannot hold': { body: { seed: 2 ** 60 }, skipped: 'unreadable' },
    'with an empty text': { body: user(' '), skipped: 'no-user-text' },
    'whose last message is not of the user': {
      body: {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'assistant', content: 'b' },
        ],
      },
      skipped: 'no-user-text',
    },
    'with a text that stands there twice': {
      body: {
        messages: [
          { role: 'user', content: 'go on' },
          { role: 'assistant', content: 'b' },
          { role: 'user', content: 'go on' },
        ],
      },
      skipped: 'ambiguous-text',
    },
  }
  for (const [name, { body, skipped }] of Object.entries(cases)) {
    test(name, async (t) => {
      const { chat, embedded } = await setUpSemantic(t)
      assert.equal(cacheOf(await chat(body)), `miss; semantic=${skipped}`)
      assert.equal(cacheOf(await chat(body)), 'hit; age=0')
      assert.equal(embedded.length, 0)
    })
  }

  test('that bypasses the cache, or has an answer to an equal one', async (t) => {
    const { say, embedded } = await setUpSemantic(t)
    assert.equal(cacheOf(await say('one', { temperature: 1 })), 'bypass; reason=temperature')
    assert.equal(cacheOf(await say('one', {}, { 'cache-control': 'no-store' })), 'bypass; reason=no-store')
    assert.equal(embedded.length, 0)
    await say('one')
    assert.equal(cacheOf(await say('one')), 'hit; age=0')
    assert.equal(embedded.length, 1)
  })

  test('that is no chat', async (t) => {
    const { ask, embedded } = await setUpSemantic(t)
    assert.equal(cacheOf(await ask('/v1/embeddings', { model: 'embed-test', input: 'hello' })), 'miss')
    assert.equal(embedded.length, 0)
  })
})

test('tenants never get answers of each other, whatever they ask', async (t) => {
  const { gateway } = await setUpSemantic(t, {
    semantic: { threshold: 0.9 },
    handler: ({ body }, response) => {
      const { messages } = JSON.parse(body) as { messages: { content: string }[] }
      sendChat(response, messages[0]?.content ?? '')
    },
  })
  const ask = async (tenant: string, turns: number): Promise<{ tenant: string; outcome: string }> => {
    const content = `of ${tenant}${'!'.repeat(turns)}`
    const answer = await request(gateway.port(), {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${tenant}` },
      body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content }] }),
    })
    return { tenant: /of (\w+)/.exec(textOf(answer))?.[1] ?? '', outcome: cacheOf(answer) ?? '' }
  }
  const step = fc.tuple(fc.constantFrom('ann', 'bob', 'cat', 'dan'), fc.nat(20))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      for (const [tenant, turns] of steps) {
        const answer = await ask(tenant, turns)
        assert.equal(answer.tenant, tenant)
      }
    }),
    { numRuns: 12 },
  )
  await ask('eve', 0)
  assert.deepEqual(await ask('eve', 1), { tenant: 'eve', outcome: 'hit; age=0; similarity=0.9961' })
})

test('a scope shares answers between the tenants that it names', async (t) => {
  const { say } = await setUpSemantic(t, { cache: { scope: '"all"' }, handler: respond() })
  await say('one')
  const other = await say('two', {}, { authorization: 'Bearer bob' })
  assert.equal(cacheOf(other), 'hit; age=0; similarity=1')
})
