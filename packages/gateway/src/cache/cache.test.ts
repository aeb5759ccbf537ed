import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cacheOf, setUp, textOf } from './testing/scene.ts'

describe('the response cache', () => {
  for (const stream of [false, true]) {
    test(`answers an equal chat from memory, ${stream ? 'as a stream' : 'as a whole'}`, async (t) => {
      const { chat, seen } = await setUp(t)
      const first = await chat({ stream })
      const second = await chat({ stream })
      assert.deepEqual([cacheOf(first), cacheOf(second)], ['miss', 'hit; age=0'])
      assert.deepEqual([textOf(first), textOf(second)], ['answer 1', 'answer 1'])
      assert.equal(second.body, first.body)
      assert.equal(seen.length, 1)
      assert.equal(second.headers['content-type'], first.headers['content-type'])
      // Headers that tell of the first call only.
      assert.equal(second.headers['x-request-id'], undefined)
      assert.equal(second.headers['x-ratelimit-remaining-requests'], undefined)
    })
  }

  test('answers equal requests for embeddings from memory', async (t) => {
    const { ask, seen, gateway } = await setUp(t)
    const body = { model: 'embed-test', input: 'hello' }
    const answers = [await ask('/v1/embeddings', body), await ask('/v1/embeddings', body)]
    assert.deepEqual(answers.map(cacheOf), ['miss', 'hit; age=0'])
    assert.equal(answers[1]?.body, answers[0]?.body)
    assert.equal(seen.length, 1)
    await gateway.finished(2)
    assert.deepEqual(
      gateway.records.map(({ llm }) => [llm?.costUsd, llm?.usage.input]),
      [
        [0.05, 1000],
        [0, undefined],
      ],
    )
  })
})
