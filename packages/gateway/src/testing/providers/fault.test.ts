import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Fault } from './fault.ts'
import { OPENAI_KEY, openaiVendor } from './openai.ts'
import { startFakeProvider } from './server.ts'

async function setUp(t: TestContext, fault: Fault) {
  const fake = await startFakeProvider(openaiVendor(), fault)
  t.after(() => fake.close())
  const ask = (): Promise<Response> =>
    fetch(`${fake.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${OPENAI_KEY}` },
      body: JSON.stringify({ model: 'gpt-4.1', stream: true, messages: [{ role: 'user', content: 'hi' }] }),
    })
  return { fake, ask }
}

const DONE = /data: \[DONE\]\n\n$/

test('without a fault the stream is whole, and in pieces it is the same', async (t) => {
  const whole = await (await (await setUp(t, {})).ask()).text()
  const pieces = await (
    await (await setUp(t, { pieceBytes: 1, latencyMs: 1, firstByteMs: 1, frameMs: 1 })).ask()
  ).text()
  assert.match(whole, DONE)
  assert.equal(pieces, whole)
})

test('a failure stands in place of every answer, as often as it is said', async (t) => {
  const { ask } = await setUp(t, { failure: { kind: 'rateLimit', message: 'slow', retryAfter: 3 }, times: 1 })
  const refused = await ask()
  assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '3'])
  await refused.text()
  assert.match(await (await ask()).text(), DONE)
})

test('a closed connection gets no response', async (t) => {
  const { ask } = await setUp(t, { hangUp: true })
  await assert.rejects(ask())
})

for (const how of ['reset', 'close'] as const) {
  test(`a stream breaks in the middle (${how})`, async (t) => {
    const { ask } = await setUp(t, { break: { afterFrames: 2, how } })
    const answer = await ask()
    await assert.rejects(answer.text())
  })
}

for (const how of ['end', 'garbage'] as const) {
  test(`a stream ends too early (${how})`, async (t) => {
    const { ask } = await setUp(t, { break: { afterFrames: -1, how } })
    const text = await (await ask()).text()
    assert.doesNotMatch(text, DONE)
    assert.match(text, /"finish_reason":"stop"/)
  })
}
