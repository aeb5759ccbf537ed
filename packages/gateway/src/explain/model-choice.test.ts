import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../testing/client.ts'
import { httpConfig, until, useGateway } from '../testing/scene.ts'
import { headlineOf } from './explain.ts'

test('the explanation of a request that passed has the choice of its model', async (t) => {
  const models = [
    { name: 'smart', provider: { openai: { model: 'gpt-5.5' }, host: '127.0.0.1', port: 9 } },
    { name: 'anthropic/*', provider: { mock: {} } },
    {
      name: 'house',
      targets: [{ model: 'smart', when: 'llm.promptTokens < 8000' }, { model: 'anthropic/claude-sonnet-5' }],
    },
  ]
  const gateway = await useGateway(t, httpConfig([{ name: 'chat', backends: [{ ai: { models } }] }]))
  const messages = [{ role: 'user', content: 'a few words '.repeat(3_000) }]
  const body = JSON.stringify({ model: 'house', messages })
  const answer = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })
  assert.equal(answer.status, 200)
  await until(() => gateway.recorded().length > 0)
  const [record] = gateway.recorded()
  assert.ok(record)
  assert.equal(record.llm?.clientModel, 'house')
  assert.match(
    headlineOf(record),
    /answered 200 \(smart → gpt-5\.5: \d+,\d{3} prompt tokens ≥ 8,000; anthropic\/claude-sonnet-5 chosen\)$/,
  )
})
