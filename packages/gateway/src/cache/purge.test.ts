import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, test, type TestContext } from 'node:test'
import type { AnswerSelection } from '../stores/answers/answer-store.ts'
import type { TestGateway } from '../testing/gateway.ts'
import { until } from '../testing/scene.ts'
import type { CacheFigures } from './cache-command.ts'
import { cacheOf, sendChat, setUp, textOf } from './testing/scene.ts'

async function purge(gateway: TestGateway, selection: AnswerSelection): Promise<number> {
  const answer = await gateway.caches({ kind: 'purge', selection })
  return answer.kind === 'purged' ? answer.purged : assert.fail('not a purge')
}

async function figuresOf(gateway: TestGateway): Promise<readonly CacheFigures[]> {
  const answer = await gateway.caches({ kind: 'figures', withStore: true })
  return answer.kind === 'figures' ? answer.caches : assert.fail('no figures')
}

describe('a purge', () => {
  test('removes the answers of a model, of a cache, or all, and nothing else', async (t) => {
    const { chat, gateway } = await setUp(t)
    const models = ['gpt-test', 'other']
    const outcomes = async () => {
      const answers = await Promise.all(models.map((model) => chat({ model })))
      return answers.map((answer) => cacheOf(answer)?.split(';')[0])
    }
    await outcomes()
    assert.deepEqual(await outcomes(), ['hit', 'hit'])
    assert.equal(await purge(gateway, { model: 'unknown' }), 0)
    assert.equal(await purge(gateway, { apiKey: 'unknown' }), 0)
    assert.equal(await purge(gateway, { cache: 'unknown' }), 0)
    assert.deepEqual(await outcomes(), ['hit', 'hit'])
    assert.equal(await purge(gateway, { model: 'other' }), 1)
    assert.deepEqual(await outcomes(), ['hit', 'miss'])
    const [cache] = await figuresOf(gateway)
    assert.equal(await purge(gateway, { cache: cache?.name ?? '' }), 2)
    assert.deepEqual(await outcomes(), ['miss', 'miss'])
    assert.equal(await purge(gateway, 'all'), 2)
    assert.equal((await figuresOf(gateway))[0]?.entries, 0)
  })

  test('removes the answers for an API key', async (t) => {
    const data = { ann: 'key-of-ann', bob: 'key-of-bob' }
    const { chat, gateway } = await setUp(t, { policies: { apiKeyAuthentication: { secretRef: { data } } } })
    const ask = async (name: string) => cacheOf(await chat({}, { authorization: `Bearer key-of-${name}` }))
    assert.deepEqual([await ask('ann'), await ask('bob')], ['miss', 'miss'])
    assert.equal(await purge(gateway, { apiKey: 'bob' }), 1)
    assert.deepEqual([await ask('ann'), await ask('bob')], ['hit; age=0', 'miss'])
  })

  test('also drops the answer of a call that is under way, which later requests do not follow', async (t) => {
    const { responses, chat, gateway, asked } = await useOpenProvider(t)
    const before = chat()
    await asked(1)
    assert.equal(await purge(gateway, 'all'), 0)
    const after = chat()
    await asked(2)
    sendChat(responses[0] ?? assert.fail(), 'of before')
    sendChat(responses[1] ?? assert.fail(), 'of after')
    assert.deepEqual([textOf(await before), textOf(await after)], ['of before', 'of after'])
    const stored = await chat()
    assert.deepEqual([cacheOf(stored), textOf(stored)], ['hit; age=0', 'of after'])
  })

  test('removes nothing where there is no cache', async (t) => {
    const { gateway } = await setUp(t, { ai: { cache: undefined } })
    assert.deepEqual(await gateway.caches({ kind: 'purge', selection: 'all' }), {
      ...{ kind: 'purged', purged: 0, isStorePurged: null },
    })
    assert.deepEqual(await figuresOf(gateway), [])
  })
})

test('the figures of a cache count calls by their final outcome, and what hits saved', async (t) => {
  const { chat, gateway } = await setUp(t)
  await chat()
  await chat()
  await chat({ temperature: 1 })
  await gateway.finished(3)
  const [{ name, bytes, ...figures } = assert.fail(), ...others] = await figuresOf(gateway)
  assert.match(name, /\S/)
  assert.ok(bytes > 100)
  assert.deepEqual(others, [])
  assert.deepEqual(figures, {
    ...{ entries: 1, scopes: 1, maxBytes: 64 * 1024 * 1024, hits: 1, misses: 1, bypasses: 1 },
    ...{ savedNanoDollars: 100_000_000n, isShared: false, stored: null },
  })
})

/** A provider whose responses the test writes. */
async function useOpenProvider(t: TestContext) {
  const responses: ServerResponse[] = []
  const scene = await setUp(t, { handler: (_seen, response) => void responses.push(response) })
  return { ...scene, responses, asked: (count: number) => until(() => responses.length === count) }
}
