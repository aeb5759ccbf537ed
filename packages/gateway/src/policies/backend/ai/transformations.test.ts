import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../../../testing/scene.ts'

test('an expression sets a member of the body, and one that fails removes it', async (t) => {
  const origin = await useOrigin(t, (_seen, response) => {
    const message = { role: 'assistant', content: 'well' }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ id: 'c1', model: 'm', choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
  const transformations = [
    { field: 'user', expression: '"team-" + llmRequest.user' },
    { field: 'seed', expression: 'llmRequest.missing' },
    { field: 'stop', expression: 'null' },
  ]
  const provider = { openai: {}, host: '127.0.0.1', port: origin.port }
  const policies = { backend: { auth: { key: 'sk' }, ai: { transformations } } }
  const gateway = await useGateway(t, httpConfig([{ policies, backends: [{ ai: { provider } }] }]))
  const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }], user: 'ann', seed: 7, stop: 'x' }
  const { status } = await request(gateway.port(), {
    method: 'POST',
    path: '/v1/chat/completions',
    body: JSON.stringify(body),
  })
  assert.equal(status, 200)
  const { user, ...rest } = JSON.parse(origin.seen[0]!.body) as Record<string, unknown>
  assert.equal(user, 'team-ann')
  assert.deepEqual(rest, { model: 'm', messages: body.messages, stop: null })
})
