import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../testing/scene.ts'
import { CHAT, respond } from './testing/scene.ts'

/** Two providers, one after the other; the first one fails while `isDown`. */
test('an answer of a fallback is stored for the fallback, and serves while the first provider fails', async (t) => {
  const state = { isDown: true }
  const answer = respond()
  const first = await useOrigin(t, (seen, response, message) => {
    if (state.isDown) response.writeHead(503).end('{"error":{"message":"down"}}')
    else answer(seen, response, message)
  })
  const second = await useOrigin(t, respond())
  const groups = [first, second].map(({ port }, at) => ({
    providers: [{ name: `p${at}`, openai: {}, host: '127.0.0.1', port, policies: { auth: { key: 'k' } } }],
  }))
  const policies = { ai: { cache: { ttl: '1m' } } }
  const gateway = await useGateway(t, httpConfig([{ backends: [{ ai: { groups }, policies }] }]))
  const ask = async () => {
    const headers = { authorization: 'Bearer ann', 'content-type': 'application/json' }
    const body = JSON.stringify(CHAT)
    const { status, headers: got } = await request(gateway.port(), {
      ...{ method: 'POST', path: '/v1/chat/completions', headers, body },
    })
    return [status, got['x-portico-cache']]
  }
  assert.deepEqual(await ask(), [200, 'miss'])
  assert.deepEqual(await ask(), [200, 'hit; age=0'])
  assert.deepEqual([first.seen.length, second.seen.length], [2, 1])
  await gateway.finished(2)
  const [hit] = gateway.recorded()
  assert.deepEqual(
    [hit?.llm?.providerName, hit?.llm?.attempts, hit?.llm?.cache?.status],
    ['p1', [{ provider: 'p0', outcome: '503' }], 'hit'],
  )
  // The first provider has an answer of its own once it works again.
  state.isDown = false
  assert.deepEqual(
    [await ask(), await ask()],
    [
      [200, 'miss'],
      [200, 'hit; age=0'],
    ],
  )
  assert.deepEqual(gateway.bugs, [])
})
