import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { chatRequest } from '../../testing/chat-request.ts'
import { objectAt } from '@portico/http/json'
import type { ChatRequest, JsonObject, Loss, Message, Part } from '../../middle.ts'
import { UnsupportedField } from '../../middle.ts'
import { decodeRequest } from './decode-request.ts'
import { encodeRequest } from './encode-request.ts'
import { requests } from './fixtures/requests.ts'

interface EncodedRequest {
  body: JsonObject
  losses: Loss[]
  toolNames: Map<string, string>
}

function encode(given: Partial<ChatRequest>): EncodedRequest {
  const losses: Loss[] = []
  const toolNames = new Map<string, string>()
  const body = encodeRequest(chatRequest(given), { model: 'gpt-5', quirks: new Set(), toolNames }, losses)
  assert.ok(!(body instanceof UnsupportedField), body instanceof UnsupportedField ? body.message : '')
  return { body, losses, toolNames }
}

/** Decodes and encodes a body of this format. */
function again(body: JsonObject): JsonObject {
  const request = decodeRequest(body)
  assert.ok(!(request instanceof UnsupportedField), request instanceof UnsupportedField ? request.message : '')
  const { body: encoded, losses } = encode(request)
  assert.deepEqual(losses, [])
  return encoded
}

const paths = (losses: Loss[]) => losses.map(({ what, path }) => `${what} ${path}`).toSorted()
const user = (...parts: Part[]): Message => ({ role: 'user', parts })
const assistant = (...parts: Part[]): Message => ({ role: 'assistant', parts })
const text = (value: string): Part => ({ type: 'text', text: value })

test('a conversation becomes items', () => {
  const { body, losses } = encode({
    format: 'messages',
    system: [
      { type: 'text', text: 'One' },
      { type: 'text', text: 'Two' },
    ],
    messages: [
      user(text('Weather?'), { type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'aGk=' } }),
      assistant(
        text('Looking'),
        { type: 'toolCall', id: 'toolu_1', name: 'weather', arguments: '{"city":"Bern"}' },
        { type: 'toolCall', id: 'toolu_2', name: 'weather', arguments: '' },
      ),
      user(
        { type: 'toolResult', id: 'toolu_1', parts: [{ type: 'text', text: 'sun' }], isError: false },
        { type: 'toolResult', id: 'toolu_2', parts: [], isError: true },
        text('And now?'),
      ),
    ],
    stream: true,
  })
  assert.deepEqual(losses, [])
  assert.deepEqual(body, {
    model: 'gpt-5',
    store: false,
    instructions: 'One\nTwo',
    input: [
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: 'Weather?' },
          { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' },
        ],
      },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Looking' }] },
      { type: 'function_call', call_id: 'toolu_1', name: 'weather', arguments: '{"city":"Bern"}' },
      { type: 'function_call', call_id: 'toolu_2', name: 'weather', arguments: '{}' },
      { type: 'function_call_output', call_id: 'toolu_1', output: 'sun' },
      { type: 'function_call_output', call_id: 'toolu_2', output: '', status: 'incomplete' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'And now?' }] },
    ],
    stream: true,
  })
})

test('schemas of other formats stay loose, and names that are refused here are changed', () => {
  const name = 'a.very/long name'.repeat(6)
  const { body, toolNames } = encode({
    tools: [
      { name, schema: { type: 'object' } },
      { name: 'ok', schema: { type: 'object' }, strict: true, description: 'Does it' },
    ],
    toolChoice: { kind: 'tool', name },
    messages: [assistant({ type: 'toolCall', id: 'c', name, arguments: '{}' })],
    parallelTools: false,
  })
  const [changed] = toolNames.keys()
  assert.equal(toolNames.get(changed!), name)
  assert.match(changed!, /^[A-Za-z0-9_-]{1,64}$/)
  assert.deepEqual(body.tools, [
    { type: 'function', name: changed, parameters: { type: 'object' }, strict: false },
    { type: 'function', name: 'ok', description: 'Does it', parameters: { type: 'object' }, strict: true },
  ])
  assert.deepEqual(body.tool_choice, { type: 'function', name: changed })
  assert.equal(body.parallel_tool_calls, false)
  assert.deepEqual(body.input, [{ type: 'function_call', call_id: 'c', name: changed, arguments: '{}' }])
})

test('long ids of calls are shortened, and fit their results', () => {
  const id = `toolu_${'x'.repeat(100)}`
  const { body } = encode({
    messages: [
      assistant({ type: 'toolCall', id, name: 'f', arguments: '{}' }),
      user({ type: 'toolResult', id, parts: [{ type: 'text', text: 'y' }], isError: false }),
    ],
  })
  const ids = JSON.stringify(body).match(/"call_id":"[^"]*"/g)
  assert.equal(ids?.length, 2)
  assert.equal(ids[0], ids[1])
  assert.ok(ids[0].length <= 64 + '"call_id":""'.length)
})

test('fields that this format cannot express are reported', () => {
  const { losses } = encode({
    format: 'messages',
    sampling: { topK: 3, stop: ['x'], seed: 1, frequencyPenalty: 1, presencePenalty: 1, maxTokens: 9 },
    system: [{ type: 'text', text: 'x', cache: { type: 'ephemeral' } }],
    messages: [
      user(text('x')),
      assistant({ type: 'reasoning', text: 'Hm', signature: 'anthropic:abc' }),
      assistant({ type: 'toolCall', id: 'c', name: 'f', arguments: '{}', signature: 'google:abc' }),
      assistant({ type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } }),
      assistant({ type: 'native', value: { type: 'server_tool_use' } }),
    ],
  })
  assert.deepEqual(paths(losses), [
    'dropped cache_control',
    'dropped frequency_penalty',
    'dropped messages[].content[]',
    'dropped messages[].content[]',
    'dropped messages[].content[].id',
    'dropped messages[].content[].thinking',
    'dropped presence_penalty',
    'dropped seed',
    'dropped stop_sequences',
    'dropped top_k',
  ])
})

test('thinking by numbers is said as effort, and can be brought back', () => {
  const { body, losses } = encode({ format: 'messages', reasoning: { budget: 16_000, include: true } })
  assert.deepEqual(body.reasoning, { effort: 'high', summary: 'auto' })
  assert.deepEqual(body.include, ['reasoning.encrypted_content'])
  assert.deepEqual(paths(losses), ['renamed thinking'])
})

test('a client of Messages is shown what was thought, unless it or the provider is against it', () => {
  const summaryFor = (thinking: JsonObject, changes: Partial<ChatRequest['reasoning']> = {}, quirks: string[] = []) => {
    const reasoning = { budget: 2000, rest: { thinking }, ...changes }
    const target = { model: 'gpt-5', quirks: new Set(quirks), toolNames: new Map<string, string>() }
    const body = encodeRequest(chatRequest({ format: 'messages', reasoning }), target, [])
    assert.ok(!(body instanceof UnsupportedField))
    return objectAt(body, 'reasoning').summary
  }
  const enabled = { type: 'enabled', budget_tokens: 2000 }
  const picky = ['summariesOnRequest']
  assert.equal(summaryFor(enabled), 'auto')
  assert.equal(summaryFor(enabled, { include: false }), undefined)
  assert.equal(summaryFor({ type: 'disabled' }, { effort: 'none' }), undefined)
  assert.equal(summaryFor(enabled, {}, picky), undefined)
  assert.equal(summaryFor(enabled, { include: true }, picky), 'auto')
})

test('only what its maker sealed is brought back', () => {
  const { body } = encode({
    format: 'completions',
    messages: [
      assistant(
        { type: 'reasoning', text: 'One', id: 'rs_1' },
        { type: 'reasoning', text: 'Two', id: 'rs_1', opaque: 'openai:gAAA' },
        { type: 'reasoning', text: '', opaque: 'anthropic:xyz' },
      ),
    ],
  })
  const summary = ['One', 'Two'].map((text) => ({ type: 'summary_text', text }))
  assert.deepEqual(body.input, [{ id: 'rs_1', type: 'reasoning', summary, encrypted_content: 'gAAA' }])
})

test('fields that mean the same in Completions are kept', () => {
  const { body, losses } = encode({
    format: 'completions',
    rest: { metadata: { a: 'b' }, service_tier: 'flex', store: true, verbosity: 'low', logit_bias: { '1': 2 } },
    user: 'u',
    output: { kind: 'json' },
  })
  assert.deepEqual(body, {
    metadata: { a: 'b' },
    service_tier: 'flex',
    store: true,
    model: 'gpt-5',
    input: [],
    text: { verbosity: 'low', format: { type: 'json_object' } },
    user: 'u',
  })
  assert.deepEqual(paths(losses), ['dropped logit_bias'])
})

test('only a client of this format lets the provider store responses by default', () => {
  assert.equal(encode({ format: 'responses' }).body.store, undefined)
  for (const format of ['completions', 'messages', 'gemini', 'converse'] as const) {
    assert.equal(encode({ format }).body.store, false, format)
  }
})

test('several answers at once are refused', () => {
  const refused = encodeRequest(
    chatRequest({ format: 'completions', rest: { n: 2 } }),
    { model: 'm', quirks: new Set(), toolNames: new Map() },
    [],
  )
  assert.ok(refused instanceof UnsupportedField)
  assert.equal(refused.field, 'n')
})

test('a client of this format is understood to the letter', () => {
  const body: JsonObject = {
    model: 'gpt-5',
    instructions: 'Be brief.',
    previous_response_id: 'resp_1',
    store: true,
    include: ['reasoning.encrypted_content'],
    prompt: { id: 'pmpt_1', variables: { a: 'b' } },
    service_tier: 'flex',
    safety_identifier: 'u1',
    max_output_tokens: 16,
    temperature: 0.1,
    top_p: 0.9,
    stream: true,
    parallel_tool_calls: true,
    reasoning: { effort: 'low', summary: 'concise', context: 'all_turns' },
    text: { verbosity: 'low', format: { type: 'json_schema', name: 'o', schema: { type: 'object' }, strict: false } },
    tools: [
      {
        type: 'function',
        name: 'f',
        description: 'F',
        parameters: { type: 'object' },
        strict: true,
        defer_loading: true,
      },
      { type: 'custom', name: 'p', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
      { type: 'mcp', server_label: 's', server_url: 'https://example.com' },
    ],
    tool_choice: { type: 'mcp', server_label: 's' },
    input: [
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Rules' }] },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      {
        id: 'rs_1',
        type: 'reasoning',
        summary: [
          { type: 'summary_text', text: 'a' },
          { type: 'summary_text', text: 'b' },
        ],
        content: [{ type: 'reasoning_text', text: 'c' }],
        encrypted_content: 'gAAA',
      },
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        phase: 'commentary',
        content: [
          { type: 'output_text', text: 'x', annotations: [{ type: 'file_citation', file_id: 'f', index: 0 }] },
          { type: 'output_text', text: 'y' },
        ],
      },
      { id: 'msg_2', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'z' }] },
      { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', arguments: '{ "a" : 1.0 }' },
      { type: 'custom_tool_call', id: 'ct_1', call_id: 'c2', name: 'p', input: '"x"\n' },
      { type: 'mcp_call', id: 'mcp_1', server_label: 's', name: 'n', arguments: '{}', output: 'o' },
      { type: 'function_call_output', call_id: 'c1', output: '42' },
      {
        type: 'custom_tool_call_output',
        call_id: 'c2',
        output: [
          { type: 'input_text', text: 'ok' },
          { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'high' },
        ],
      },
      { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'More rules' }] },
      { type: 'item_reference', id: 'msg_0' },
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGk=', detail: 'low' },
          { type: 'input_audio', input_audio: { data: 'aGk=', format: 'mp3' } },
        ],
      },
    ],
  }
  assert.deepEqual(again(body), body)
})

test('a choice among the tools is said again', () => {
  const [f, g] = ['f', 'g'].map((name) => ({ type: 'function', name, parameters: { type: 'object' } }))
  const tool_choice = { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'f' }] }
  const body = { model: 'gpt-5', input: [], tools: [f!, g!], tool_choice }
  assert.deepEqual(again(body), body)
})

test('whatever a client of this format says is said again', () => {
  fc.assert(fc.property(requests(), (body) => assert.deepEqual(again(body), body)))
})
