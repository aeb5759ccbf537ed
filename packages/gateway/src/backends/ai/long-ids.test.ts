import assert from 'node:assert/strict'
import { test } from 'node:test'
import { request } from '../../testing/client.ts'
import { httpConfig, useGateway, useOrigin } from '../../testing/scene.ts'
import { clientCalls, vendorStreams } from './test-streams.ts'

/** Ids of 17 digits and more do not fit into a double. */

const ID = '12345678901234567890'

test('arguments that a client of Messages hands back reach a provider of another format as they were', async (t) => {
  const { start, end } = vendorStreams.completions
  const origin = await useOrigin(t, (_seen, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(start + end)
  })
  const backends = [{ ai: { provider: { openai: {}, host: '127.0.0.1', port: origin.port } } }]
  const gateway = await useGateway(t, httpConfig([{ backends }]))
  const { path, body } = clientCalls.messages
  const messages = [
    { role: 'user', content: 'Go' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'f', input: { id: 'ID', more: ['ID'] } }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }] },
  ]
  const asked = body({ messages, tools: [{ name: 'f', input_schema: { type: 'object' } }] }).replaceAll('"ID"', ID)
  const answer = await request(gateway.port(), { method: 'POST', path, body: asked })
  assert.equal(answer.status, 200, answer.body)
  const sent: { messages: { tool_calls?: { function: { arguments: string } }[] }[] } = JSON.parse(origin.seen[0]!.body)
  assert.equal(sent.messages[1]?.tool_calls?.[0]?.function.arguments, `{"id":${ID},"more":[${ID}]}`)
})
