import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cacheOf, setUp, textOf } from './testing/scene.ts'

describe('the default rule', () => {
  const cases: readonly [body: object, outcome: string][] = [
    [{ temperature: 0 }, 'miss'],
    [{ temperature: 1 }, 'bypass; reason=temperature'],
    [{ temperature: 1, seed: 4 }, 'miss'],
    [{ store: true }, 'bypass; reason=store'],
    [{ store: false }, 'miss'],
    [{ audio: { voice: 'alloy', format: 'wav' }, modalities: ['text', 'audio'] }, 'bypass; reason=audio'],
    [{ modalities: ['text'] }, 'miss'],
    [{ web_search_options: {} }, 'bypass; reason=provider-tools'],
    [{ tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }] }, 'miss'],
  ]
  for (const [body, outcome] of cases) {
    test(`${JSON.stringify(body)}: ${outcome}`, async (t) => {
      const { chat, seen } = await setUp(t)
      assert.equal(cacheOf(await chat(body)), outcome)
      assert.equal(cacheOf(await chat(body)), outcome === 'miss' ? 'hit; age=0' : outcome)
      assert.equal(seen.length, outcome === 'miss' ? 1 : 2)
    })
  }

  for (const [more, outcome] of [
    [{}, 'bypass; reason=store'],
    [{ store: false }, 'miss'],
    [{ store: false, previous_response_id: 'resp_1' }, 'bypass; reason=stateful'],
    [{ store: false, tools: [{ type: 'web_search' }] }, 'bypass; reason=provider-tools'],
  ] as const) {
    test(`Responses with ${JSON.stringify(more)}: ${outcome}`, async (t) => {
      const { ask } = await setUp(t, { handler: (_seen, response) => response.writeHead(500).end('{}') })
      assert.equal(cacheOf(await ask('/v1/responses', { model: 'gpt-test', input: 'hi', ...more })), outcome)
    })
  }

  for (const [more, outcome] of [
    [{}, 'miss'],
    [{ generationConfig: { temperature: 1 } }, 'bypass; reason=temperature'],
    [{ generation_config: { temperature: 1 } }, 'bypass; reason=temperature'],
    [{ generationConfig: { temperature: 1, seed: 4 } }, 'miss'],
    [{ tools: [{ functionDeclarations: [{ name: 'f' }] }] }, 'miss'],
    [{ tools: [{ functionDeclarations: [{ name: 'f' }], codeExecution: {} }] }, 'bypass; reason=provider-tools'],
  ] as const) {
    test(`generateContent with ${JSON.stringify(more)}: ${outcome}`, async (t) => {
      const { ask } = await setUp(t, { handler: (_seen, response) => response.writeHead(500).end('{}') })
      const body = { contents: [{ parts: [{ text: 'hi' }] }], ...more }
      assert.equal(cacheOf(await ask('/v1beta/models/gpt-test:generateContent', body)), outcome)
    })
  }
})

test('`when` takes the place of the default rule', async (t) => {
  const { chat } = await setUp(t, { cache: { when: 'llmRequest.model == "gpt-test"' } })
  assert.equal(cacheOf(await chat({ temperature: 1, store: true })), 'miss')
  assert.equal(cacheOf(await chat({ temperature: 1, store: true })), 'hit; age=0')
  assert.equal(cacheOf(await chat({ model: 'gpt-other', temperature: 0 })), 'bypass; reason=when')
})

test('an external authorizer of the backend is asked for each call, so its calls bypass the cache', async (t) => {
  const { chat } = await setUp(t, {
    backend: { extAuth: { backendRef: { host: '127.0.0.1:1' }, http: {}, failureMode: 'FailOpen' } },
  })
  assert.equal(cacheOf(await chat()), 'bypass; reason=ext-auth')
})

describe('cache-control of a client', () => {
  const scene = () => {
    let now = 1_000_000
    return { options: { monotonic: () => now }, pass: (ms: number) => void (now += ms) }
  }

  test('no-store neither reads nor stores', async (t) => {
    const { chat } = await setUp(t)
    const noStore = { 'cache-control': 'max-age=60, No-Store' }
    assert.equal(cacheOf(await chat({}, noStore)), 'bypass; reason=no-store')
    assert.equal(cacheOf(await chat()), 'miss')
    assert.equal(textOf(await chat({}, noStore)), 'answer 3')
    assert.equal(textOf(await chat()), 'answer 2')
  })

  test('no-cache asks anew, and stores the answer', async (t) => {
    const { chat } = await setUp(t)
    await chat()
    const fresh = await chat({}, { 'cache-control': 'no-cache' })
    assert.deepEqual([cacheOf(fresh), textOf(fresh)], ['miss', 'answer 2'])
    assert.equal(textOf(await chat()), 'answer 2')
  })

  test('max-age bounds the age of an answer, and the time to live too', async (t) => {
    const { options, pass } = scene()
    const { chat } = await setUp(t, { options })
    await chat()
    pass(30_500)
    assert.equal(cacheOf(await chat()), 'hit; age=30')
    assert.equal(cacheOf(await chat({}, { 'cache-control': 'max-age=31' })), 'hit; age=30')
    assert.equal(cacheOf(await chat({}, { 'cache-control': 'max-age=30' })), 'miss')
    assert.equal(cacheOf(await chat()), 'hit; age=0')
    assert.equal(cacheOf(await chat({}, { 'cache-control': 'max-age=0' })), 'miss')
    pass(59_999)
    assert.equal(cacheOf(await chat()), 'hit; age=59')
    pass(1)
    assert.equal(cacheOf(await chat()), 'miss')
  })
})
