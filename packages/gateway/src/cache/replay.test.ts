import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../testing/scene.ts'
import { cacheOf, CHAT, LeavingClient, setUp, textOf } from './testing/scene.ts'

const stream = { ...CHAT, stream: true }

describe('a stored stream with a pace', () => {
  test('arrives event by event, and all of it', async (t) => {
    // The streams of the scene have five events.
    const { chat, seen, gateway } = await setUp(t, { cache: { replay: { eventsPerSecond: 20 } } })
    const first = await chat({ stream: true })
    const startedAt = performance.now()
    const second = await chat({ stream: true })
    assert.ok(performance.now() - startedAt >= 180)
    assert.deepEqual([cacheOf(second), second.body], ['hit; age=0', first.body])
    assert.equal(seen.length, 1)
    await gateway.finished(2)
    assert.equal(gateway.recorded()[0]?.llm?.finishReason, 'stop')
  })

  test('ends with a client that leaves', async (t) => {
    const cache = { replay: { eventsPerSecond: 1, maxDuration: '1m' } }
    const { chat, gateway } = await setUp(t, { cache })
    const { body } = await chat({ stream: true })
    const client = new LeavingClient(gateway.port(), stream)
    await until(() => client.received.includes('answer'))
    client.leave()
    await gateway.finished(2)
    assert.ok(textOf({ body: client.received }).length < textOf({ body }).length)
    assert.equal(gateway.recorded()[0]?.llm?.cache?.status, 'hit')
  })

  test('does not delay whole answers', async (t) => {
    const { chat } = await setUp(t, { cache: { replay: { eventsPerSecond: 1, maxDuration: '1m' } } })
    const answers = [await chat(), await chat()]
    assert.deepEqual(answers.map(cacheOf), ['miss', 'hit; age=0'])
  })
})
