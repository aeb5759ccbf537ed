import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { request } from '../../testing/client.ts'
import type { TestGatewayOptions } from '../../testing/gateway.ts'
import { until, useGateway, useOrigin } from '../../testing/scene.ts'
import { cacheOf, CHAT, LeavingClient, textOf } from '../testing/scene.ts'
import { inputOf, sendEmbedding, setUpSemantic, vectorOf } from './testing/scene.ts'

const JSON_TYPE = { 'content-type': 'application/json' }

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, JSON_TYPE).end(JSON.stringify(body))
}

describe('without an embedding, the provider is asked', () => {
  const faults: Record<string, { skipped: string; embed: (response: ServerResponse) => void }> = {
    'of a provider that refuses': { skipped: 'failed', embed: (response) => sendJson(response, 401, { error: {} }) },
    'of a provider that fails': { skipped: 'failed', embed: (response) => sendJson(response, 500, {}) },
    'of a provider that breaks off': {
      skipped: 'failed',
      embed: (response) => {
        response.writeHead(200, { ...JSON_TYPE, 'content-length': '500' }).write('{')
        response.destroy()
      },
    },
    'of a provider that hangs up': { skipped: 'failed', embed: (response) => void response.destroy() },
    'that is no JSON': { skipped: 'failed', embed: (response) => void response.writeHead(200).end('hello') },
    'without a vector': { skipped: 'failed', embed: (response) => sendJson(response, 200, { data: [] }) },
    'of zeros': { skipped: 'unusable', embed: (response) => sendEmbedding(response, [0, 0]) },
    'with a number that is none': { skipped: 'failed', embed: (response) => sendEmbedding(response, ['NaN', 1]) },
    'with a null': { skipped: 'failed', embed: (response) => sendEmbedding(response, [null, 1]) },
    'with numbers beyond 32 bits': { skipped: 'unusable', embed: (response) => sendEmbedding(response, [1e300, 1]) },
    'without dimensions': { skipped: 'failed', embed: (response) => sendEmbedding(response, []) },
  }
  for (const [name, { skipped, embed }] of Object.entries(faults)) {
    test(name, async (t) => {
      const { say, gateway } = await setUpSemantic(t, { embed: (_seen, response) => embed(response) })
      const answer = await say('one')
      assert.deepEqual([answer.status, textOf(answer)], [200, 'answer 1'])
      const outcome = cacheOf(answer) ?? ''
      assert.ok(outcome === `miss; semantic=${skipped}` || outcome === 'miss; semantic=unusable', outcome)
      // Equal requests are found without a vector.
      assert.equal(cacheOf(await say('one')), 'hit; age=0')
      await gateway.finished(2)
      assert.equal(gateway.recorded()[1]?.llm?.cache?.search?.skipped, outcome.split('=')[1])
    })
  }

  test('in time', async (t) => {
    let isClosed = false
    const { say } = await setUpSemantic(t, {
      semantic: { timeout: '50ms' },
      embed: (_seen, response) => void response.on('close', () => (isClosed = true)),
    })
    const answer = await say('one')
    assert.deepEqual([answer.status, cacheOf(answer)], [200, 'miss; semantic=timeout'])
    await until(() => isClosed)
  })

  test('and after three failures, requests are not held up for a while', async (t) => {
    let isDown = true
    const { say, embedded } = await setUpSemantic(t, {
      embed: (seen, response) =>
        isDown ? sendJson(response, 503, {}) : sendEmbedding(response, vectorOf(inputOf(seen))),
    })
    const outcomes = []
    for (const text of ['one', 'two', 'three', 'four']) outcomes.push(cacheOf(await say(text)))
    assert.deepEqual(outcomes.slice(0, 3), Array(3).fill('miss; semantic=failed'))
    assert.equal(outcomes[3], 'miss; semantic=paused')
    assert.equal(embedded.length, 3)
    isDown = false
    assert.equal(cacheOf(await say('five')), 'miss; semantic=paused')
  })

  test('that belongs to another model, or has other dimensions', async (t) => {
    const spaces: [number[], string][] = [
      [[1, 0], 'a'],
      [[1, 0], 'b'],
      [[1, 0, 0], 'a'],
      [[2, 0], 'a'],
    ]
    const { say, seen, gateway } = await setUpSemantic(t, {
      embed: (_seen, response) => sendEmbedding(response, ...(spaces.shift() ?? ([[1], 'c'] as const))),
    })
    const answers = [await say('one'), await say('two'), await say('three')]
    assert.deepEqual(answers.map(cacheOf), ['miss', 'miss', 'miss'])
    assert.equal(cacheOf(await say('four')), 'hit; age=0; similarity=1')
    assert.equal(seen.length, 3)
    await gateway.finished(4)
  })
})

describe('equal requests at the same time', () => {
  /** A provider of embeddings whose responses the test writes. */
  async function setUpOpen(t: Parameters<typeof setUpSemantic>[0], options: TestGatewayOptions = {}) {
    const waiting: (() => void)[] = []
    let closed = 0
    const scene = await setUpSemantic(t, {
      semantic: { timeout: '30s' },
      options,
      embed: (seen, response) => {
        response.on('close', () => (closed += response.writableEnded ? 0 : 1))
        if (inputOf(seen) === 'stored') sendEmbedding(response, [1, 0])
        else waiting.push(() => sendEmbedding(response, vectorOf(inputOf(seen))))
      },
    })
    await scene.say('stored')
    return { ...scene, waiting, closed: () => closed }
  }
  const body = { ...CHAT, messages: [{ role: 'user', content: 'asked' }] }

  test('are compared once, and all get the answer', async (t) => {
    const { say, waiting, seen, embedded } = await setUpOpen(t)
    const answers = Promise.all([say('asked'), say('asked'), say('asked')])
    await until(() => waiting.length === 1)
    // A request of another text shows that the others had their time.
    const other = say('later')
    await until(() => waiting.length === 2)
    for (const go of waiting) go()
    for (const answer of [...(await answers), await other]) {
      assert.deepEqual([cacheOf(answer), textOf(answer)], ['hit; age=0; similarity=1', 'answer 1'])
    }
    assert.deepEqual([seen.length, embedded.length], [1, 3])
  })

  test('get no answer that is older than they want', async (t) => {
    const clock = { now: 1_000_000 }
    const { gateway, say, waiting } = await setUpOpen(t, { monotonic: () => clock.now })
    clock.now += 40_000
    const leader = say('asked')
    await until(() => waiting.length === 1)
    const follower = say('asked', {}, { 'cache-control': 'max-age=5' })
    await until(() => gateway.connectionCount() >= 2)
    // The gateway refuses this one, after it has read the one before.
    await say('', { model: '' })
    waiting[0]?.()
    assert.deepEqual([cacheOf(await leader), textOf(await leader)], ['hit; age=40; similarity=1', 'answer 1'])
    assert.deepEqual([cacheOf(await follower), textOf(await follower)], ['miss', 'answer 2'])
  })

  test('are answered although the client of the first one leaves', async (t) => {
    const { gateway, say, waiting, closed, seen } = await setUpOpen(t)
    const leader = new LeavingClient(gateway.port(), body)
    await until(() => waiting.length === 1)
    const follower = say('asked')
    await until(() => gateway.connectionCount() >= 2)
    // The gateway refuses this one, after it has read the one before.
    await say('', { model: '' })
    leader.leave()
    const answer = await follower
    assert.deepEqual([answer.status, cacheOf(answer), textOf(answer)], [200, 'miss', 'answer 2'])
    await until(() => closed() === 1)
    assert.equal(seen.length, 2)
    await gateway.finished(4)
  })

  test('cancel the embedding when the only client leaves', async (t) => {
    const { gateway, say, waiting, closed, seen } = await setUpOpen(t)
    const client = new LeavingClient(gateway.port(), body)
    await until(() => waiting.length === 1)
    client.leave()
    await until(() => closed() === 1)
    await gateway.finished(2)
    assert.equal(seen.length, 1)
    const again = say('asked')
    await until(() => waiting.length === 2)
    waiting[1]?.()
    assert.match(cacheOf(await again) ?? '', /^hit; age=\d+; similarity=1$/)
  })
})

test('a backend that compares its own requests serves its embeddings, too', async (t) => {
  const origin = await useOrigin(t, (seen, response) => {
    if (seen.url.endsWith('/embeddings')) sendEmbedding(response, vectorOf(inputOf(seen)))
    else {
      const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
      sendJson(response, 200, { id: 'c', object: 'chat.completion', created: 1, model: 'gpt-test', choices })
    }
  })
  const semantic = { embeddings: { backendRef: { name: 'models' }, model: 'embed-test' } }
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const policies = { auth: { key: 'k' }, ai: { cache: { ttl: '1m', semantic } } }
  const gateway = await useGateway(t, {
    backends: [{ name: 'models', ai: { provider }, policies }],
    binds: [{ port: 0, listeners: [{ routes: [{ backends: [{ backend: 'models' }] }] }] }],
  })
  const outcomes = []
  for (const content of ['one', 'two!']) {
    const answer = await request(gateway.port(), {
      method: 'POST',
      path: '/v1/chat/completions',
      headers: { 'content-type': 'application/json', authorization: 'Bearer ann' },
      body: JSON.stringify({ model: 'gpt-test', messages: [{ role: 'user', content }] }),
    })
    outcomes.push(cacheOf(answer))
  }
  assert.deepEqual(outcomes, ['miss', 'hit; age=0; similarity=0.9961'])
  assert.deepEqual(gateway.bugs, [])
})
