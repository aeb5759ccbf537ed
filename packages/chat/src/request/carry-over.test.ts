import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { type ChatRequest, type JsonObject, type Loss, UnsupportedField, type Message } from '../middle.ts'
import { carryRest, clientField, hoistSystem, joinSystem, lose } from './carry-over.ts'
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
      assert.ok(result instanceof UnsupportedField)
      assert.equal(result.field, Object.keys(rest)[0])
    }
  })

  it('that changes nothing is not mentioned', () => {
    const { result, losses } = carry({ rest: { n: 1, stream_options: { include_usage: true }, tool_choice: null } })
    assert.deepEqual(result, {})
    assert.deepEqual(losses, [])
  })
})

const text = (text: string) => ({ type: 'text', text }) as const

it('instructions inside the conversation move to its front, and that is reported', () => {
  const messages: Message[] = [
    { role: 'user', parts: [text('a')] },
    { role: 'system', parts: [text('be brief')] },
    { role: 'assistant', parts: [text('b')] },
  ]
  const losses: Loss[] = []
  const hoisted = hoistSystem(request({ system: [text('be kind')], messages }), losses)
  assert.deepEqual(hoisted.system, [text('be kind'), text('be brief')])
  assert.deepEqual(
    hoisted.messages.map(({ role }) => role),
    ['user', 'assistant'],
  )
  assert.equal(losses.length, 1)
})

it('a conversation without them is left alone', () => {
  const losses: Loss[] = []
  const messages: Message[] = [{ role: 'user', parts: [text('a')] }]
  assert.equal(hoistSystem(request({ messages }), losses).messages, messages)
  assert.deepEqual(losses, [])
})

it('instructions are joined by line, without blank ones', () => {
  assert.equal(joinSystem([text('a'), text(' \n'), text('b')]), 'a\nb')
  assert.equal(joinSystem([text('')]), null)
  assert.equal(joinSystem([]), null)
})

test('fields are called as the client calls them', () => {
  assert.equal(clientField('completions', 'maxTokens'), 'max_tokens')
  assert.equal(clientField('responses', 'maxTokens'), 'max_output_tokens')
  assert.equal(clientField('messages', 'user'), 'metadata.user_id')
  assert.equal(clientField('responses', 'seed'), 'seed')
})

test('the same loss is said once, and not more of them than anybody reads', () => {
  const losses: Loss[] = []
  for (let round = 0; round < 2; round++) lose(losses, { what: 'dropped', path: 'seed' })
  lose(losses, { what: 'dropped', path: 'seed', note: 'why' })
  assert.equal(losses.length, 2)
  for (let at = 0; at < 100_000; at++) lose(losses, { what: 'dropped', path: `unknown_${at}` })
  assert.equal(losses.length, 50)
})
