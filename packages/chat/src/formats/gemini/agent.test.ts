import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chatClients } from '../../testing/chat-clients.ts'
import { responseContext } from '../../testing/chat-request.ts'
import type { JsonObject, Loss } from '../../middle.ts'
import { UnsupportedField } from '../../middle.ts'
import { gemini } from './index.ts'

const parts: JsonObject[] = [
  { text: 'Two cities.', thought: true },
  { functionCall: { name: 'mcp_weather', args: { city: 'Wien' }, id: 'a1' }, thoughtSignature: 'Cr8BAdHtim9vkT4=' },
  { functionCall: { name: 'mcp_weather', args: { city: 'Bern' }, id: 'b2' } },
]
const answered = {
  candidates: [{ content: { parts }, finishReason: 'STOP' }],
  modelVersion: 'gemini-3-flash',
  responseId: 'r',
}

for (const client of chatClients) {
  test(`an agent that speaks ${client.format.name} gives Gemini back what it said`, () => {
    const asked = client.ask('Weather?', 'mcp/weather')
    const toolNames = new Map<string, string>()
    encode(asked)
    const request = client.format.decodeRequest(asked)
    assert.ok(!(request instanceof UnsupportedField))
    const context = responseContext({ request, toolNames })
    const events = gemini.decodeResponse(answered, context)
    assert.ok(events)
    const answer: JsonObject = JSON.parse(JSON.stringify(client.format.encodeResponse(events, context)))
    const { body, losses } = encode(client.goOn(asked, answer, '{"sky":"blue"}'))
    assert.deepEqual(body.contents, [
      { role: 'user', parts: [{ text: 'Weather?' }] },
      { role: 'model', parts },
      {
        role: 'user',
        parts: [
          { functionResponse: { id: 'a1', name: 'mcp_weather', response: { sky: 'blue' } } },
          { functionResponse: { id: 'b2', name: 'mcp_weather', response: { sky: 'blue' } } },
        ],
      },
    ])
    assert.deepEqual(
      losses.filter(({ path }) => !OWN_WORDS.test(path)),
      [],
    )

    function encode(body: JsonObject): { body: JsonObject; losses: Loss[] } {
      const decoded = client.format.decodeRequest(body)
      assert.ok(!(decoded instanceof UnsupportedField))
      const losses: Loss[] = []
      const target = { model: 'gemini-3-flash', quirks: new Set(['callIds']), toolNames }
      const encoded = gemini.encodeRequest(decoded, target, losses)
      assert.ok(!(encoded instanceof UnsupportedField))
      return { body: encoded, losses }
    }
  })
}

/** Members of Responses that say nothing to a model. */
const OWN_WORDS = /^(?:include|input\[\]\.content\[\]\.(?:id|status|item))$/
