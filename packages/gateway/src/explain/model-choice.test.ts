import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadConfig } from '../sources/file.ts'
import { request } from '../testing/client.ts'
import { closedPort, httpConfig, until, useGateway } from '../testing/scene.ts'
import { explain, headlineOf } from './explain.ts'

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

test('the explanation of a request whose targets all failed has each failure', async (t) => {
  const port = await closedPort()
  const models = [
    ...['a', 'b'].map((name) => ({ name, provider: { openai: {}, host: '127.0.0.1', port } })),
    { name: 'house', targets: [{ model: 'a' }, { model: 'b' }] },
  ]
  const config = httpConfig([{ name: 'chat', backends: [{ ai: { models } }] }])
  const gateway = await useGateway(t, config)
  const body = JSON.stringify({ model: 'house', messages: [{ role: 'user', content: 'hi' }] })
  const answer = await request(gateway.port(), { method: 'POST', path: '/v1/chat/completions', body })
  assert.equal(answer.status, 503)
  await until(() => gateway.recorded().length > 0)
  const [record] = gateway.recorded()
  const loaded = loadConfig(JSON.stringify(config), { file: 'g.yaml', dir: '.', env: {} })
  assert.ok(record !== undefined && loaded.ok)
  const { values } = explain(record, { isKnown: true, isEarlier: false, live: 1, ir: loaded.ir, locate: () => null })
  assert.deepEqual(
    values.filter(({ name }) => name === 'llm.modelChoice').map(({ value }) => value),
    ['a: connect_failed; b: connect_failed'],
  )
})
