import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chatClients } from '../../testing/chat-clients.ts'
import { responseContext } from '../../testing/chat-request.ts'
import type { JsonObject, Loss } from '../../middle.ts'
import { UnsupportedField } from '../../middle.ts'
import { converse } from './index.ts'

const content: JsonObject[] = [
  { reasoningContent: { reasoningText: { text: 'Two cities.', signature: 'EqoBCkgIARAB' } } },
  { reasoningContent: { redactedContent: 'AAECAwQF' } },
  { text: 'Let me see.' },
  { toolUse: { toolUseId: 'tooluse_1', name: 'mcp_weather', input: { city: 'Wien' } } },
  { toolUse: { toolUseId: 'tooluse_2', name: 'mcp_weather', input: { city: 'Bern' } } },
]
const answered = { output: { message: { role: 'assistant', content } }, stopReason: 'tool_use' }

for (const client of chatClients) {
  test(`an agent that speaks ${client.format.name} gives Claude back what it said`, () => {
    const asked = client.ask('Weather?', 'mcp/weather')
    const toolNames = new Map<string, string>()
    encode(asked)
    const request = client.format.decodeRequest(asked)
    assert.ok(!(request instanceof UnsupportedField))
    const context = responseContext({ request, toolNames })
    const events = converse.decodeResponse(answered, context)
    assert.ok(events)
    const answer: JsonObject = JSON.parse(JSON.stringify(client.format.encodeResponse(events, context)))
    const { body, losses } = encode(client.goOn(asked, answer, 'blue'))
    assert.deepEqual(body.messages, [
      { role: 'user', content: [{ text: 'Weather?' }] },
      { role: 'assistant', content },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'tooluse_1', content: [{ text: 'blue' }] } },
          { toolResult: { toolUseId: 'tooluse_2', content: [{ text: 'blue' }] } },
        ],
      },
    ])
    assert.deepEqual(
      losses.filter(({ path }) => !OWN_WORDS.test(path)),
      [],
    )
    assert.ok(JSON.stringify(body.additionalModelRequestFields).includes('"type":"enabled"'))

    function encode(body: JsonObject): { body: JsonObject; losses: Loss[] } {
      const decoded = client.format.decodeRequest(body)
      assert.ok(!(decoded instanceof UnsupportedField))
      const losses: Loss[] = []
      const target = { model: 'anthropic.claude-sonnet-4-5-20250929-v1:0', quirks: new Set<string>(), toolNames }
      const encoded = converse.encodeRequest(decoded, target, losses)
      assert.ok(!(encoded instanceof UnsupportedField))
      return { body: encoded, losses }
    }
  })
}

/** Members of Responses that say nothing to a model. */
const OWN_WORDS = /^(?:include|input\[\]\.content\[\]\.(?:id|status|item))$/
