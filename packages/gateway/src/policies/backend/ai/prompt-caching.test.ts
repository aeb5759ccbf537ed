import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

const CLAUDE = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const TITAN = 'amazon.titan-text-express-v1'
const PROMPT = { prepend: [{ role: 'system', content: 'Be brief.' }] }
const CACHING = { minTokens: 0 }

/** Sends a chat to Bedrock; returns the system prompt that arrives there. */
async function systemSent(t: TestContext, ai: object, model: string): Promise<unknown> {
  const origin = await useOrigin(t, (_seen, response) => {
    const message = { role: 'assistant', content: [{ text: 'well' }] }
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ output: { message }, stopReason: 'end_turn', usage }))
  })
  const provider = { bedrock: {}, host: '127.0.0.1', port: origin.port }
  const route = { policies: { backend: { auth: { key: 'sk' }, ai } }, backends: [{ ai: { provider } }] }
  const gateway = await useGateway(t, httpConfig([route]))
  const messages = [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: 'hi' },
  ]
  const body = JSON.stringify({ model, messages })
  const { status } = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })
  assert.equal(status, 200)
  return (JSON.parse(origin.seen[0]!.body) as { system: unknown }).system
}

const BRIEF = { text: 'Be brief.' }
const KIND = { text: 'Be kind.' }
const MARK = { cachePoint: { type: 'default' } }

for (const [what, ai, model, expected] of [
  ['a prompt of the config is not marked without caching', { prompt: PROMPT }, CLAUDE, [BRIEF, KIND]],
  ['caching marks the system prompt', { promptCaching: CACHING }, CLAUDE, [KIND, MARK]],
  ['the mark comes after the prompt', { prompt: PROMPT, promptCaching: CACHING }, CLAUDE, [BRIEF, KIND, MARK]],
  ['a model without a cache gets no mark', { prompt: PROMPT, promptCaching: CACHING }, TITAN, [BRIEF, KIND]],
] as const)
  test(what, async (t) => assert.deepEqual(await systemSent(t, ai, model), expected))
