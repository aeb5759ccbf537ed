import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ChatRequest, JsonObject, Loss } from '../middle.ts'
import { Unsupported } from '../middle.ts'
import { carryRest } from './rest.ts'
import { request } from '../testing/exchange.ts'

function carry(changes: Partial<ChatRequest>): { result: ReturnType<typeof carryRest>; losses: Loss[] } {
  const losses: Loss[] = []
  return { result: carryRest(request(changes, 'completions'), 'messages', losses), losses }
}

describe('members that the middle does not know', () => {
  it('are restored for an upstream of the same format', () => {
    const losses: Loss[] = []
    const rest = { n: 3, logprobs: true }
    assert.deepEqual(carryRest(request({ rest }), 'completions', losses), rest)
    assert.deepEqual(losses, [])
  })

  it('are reported for another format, at any depth', () => {
    const { result, losses } = carry({
      rest: { logprobs: true, store: false, audio: null, metadata: {}, modalities: [] },
      system: [{ type: 'text', text: 's', rest: { a: 1 } }],
      tools: [{ name: 'f', schema: {}, rest: { b: 1 } }],
      messages: [
        { role: 'user', rest: { name: 'Ann' }, parts: [{ type: 'native', value: { type: 'video_url' } }] },
        { role: 'user', rest: { name: 'Bob' }, parts: [{ type: 'text', text: 't', rest: { c: 1 } }] },
        {
          role: 'user',
          parts: [
            {
              type: 'toolResult',
              id: '1',
              isError: false,
              parts: [{ type: 'native', value: { type: 'search_result' } }],
              rest: { d: 1 },
            },
          ],
        },
      ],
    })
    assert.deepEqual(result, {})
    assert.deepEqual(
      losses.map(({ path, note }) => (note === undefined ? path : `${path} ${note}`)),
      [
        'logprobs',
        'metadata',
        'system[].a',
        'tools[].b',
        'messages[].name',
        'messages[].content[] video_url has no counterpart',
        'messages[].content[].c',
        'messages[].content[].d',
        'messages[].content[].content[] search_result has no counterpart',
      ],
    )
  })

  it('is refused where the answer would be another', () => {
    const refused: JsonObject[] = [
      { n: 2 },
      { functions: [] },
      { function_call: 'auto' },
      { tool_choice: { type: 'allowed_tools' } },
    ]
    for (const rest of refused) {
      const { result } = carry({ rest })
      assert.ok(result instanceof Unsupported)
      assert.equal(result.field, Object.keys(rest)[0])
    }
  })

  it('that changes nothing is not mentioned', () => {
    const { result, losses } = carry({ rest: { n: 1, stream_options: { include_usage: true }, tool_choice: null } })
    assert.deepEqual(result, {})
    assert.deepEqual(losses, [])
  })
})
