import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'node:test'
import { type ChatRequest, type JsonObject, UnsupportedField } from '../../middle.ts'
import { INPUT_SCHEMA } from '../../tools/custom-tools.ts'
import { decodeRequest } from './decode-request.ts'
import { carryRest } from '../../request/carry-over.ts'

function decode(body: JsonObject): ChatRequest {
  const request = decodeRequest({ model: 'gpt-5', ...body })
  assert.ok(!(request instanceof UnsupportedField), request instanceof UnsupportedField ? request.message : '')
  return request
}

function refusedField(body: JsonObject): string {
  const refused = decodeRequest(body)
  assert.ok(refused instanceof UnsupportedField)
  return refused.field
}

test('a text is what the user says', () => {
  const request = decode({ input: 'Hi', instructions: 'Be brief.', stream: true })
  assert.deepEqual(request.system, [{ type: 'text', text: 'Be brief.' }])
  assert.deepEqual(request.messages, [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }])
  assert.equal(request.model, 'gpt-5')
  assert.equal(request.stream, true)
  assert.deepEqual(request.rest, {})
})

test('items of one turn of the assistant are one message', () => {
  const { messages } = decode({
    input: [
      { role: 'user', content: [{ type: 'input_text', text: 'Weather?' }] },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }], encrypted_content: 'gAAA' },
      { type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'Looking' }] },
      { type: 'function_call', call_id: 'c1', name: 'weather', arguments: '{"city":"Bern"}' },
      { type: 'function_call', call_id: 'c2', name: 'weather', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output: 'sun' },
      {
        type: 'function_call_output',
        call_id: 'c2',
        output: [{ type: 'input_text', text: 'no' }],
        status: 'incomplete',
      },
      { role: 'user', content: 'Thanks' },
    ],
  })
  assert.deepEqual(messages, [
    { role: 'user', parts: [{ type: 'text', text: 'Weather?' }] },
    {
      role: 'assistant',
      parts: [
        { type: 'reasoning', text: 'Hm', id: 'rs_1', opaque: 'openai:gAAA' },
        { type: 'text', text: 'Looking', rest: { item: { phase: 'commentary' } } },
        { type: 'toolCall', id: 'c1', name: 'weather', arguments: '{"city":"Bern"}' },
        { type: 'toolCall', id: 'c2', name: 'weather', arguments: '{}' },
      ],
    },
    {
      role: 'user',
      parts: [
        { type: 'toolResult', id: 'c1', parts: [{ type: 'text', text: 'sun' }], isError: false },
        { type: 'toolResult', id: 'c2', parts: [{ type: 'text', text: 'no' }], isError: true },
      ],
    },
    { role: 'user', parts: [{ type: 'text', text: 'Thanks' }] },
  ])
})

test('instructions may be items, before the conversation and inside it', () => {
  const { system, messages } = decode({
    instructions: 'One',
    input: [
      { role: 'developer', content: 'Two' },
      { role: 'system', content: [{ type: 'input_text', text: 'Three' }] },
      { role: 'user', content: 'Hi' },
      { role: 'developer', content: 'Four' },
    ],
  })
  assert.deepEqual(system, [
    { type: 'text', text: 'One' },
    { type: 'text', text: 'Two', rest: { role: 'developer' } },
    { type: 'text', text: 'Three', rest: { role: 'system' } },
  ])
  assert.deepEqual(messages[1], {
    role: 'system',
    parts: [{ type: 'text', text: 'Four' }],
    rest: { role: 'developer' },
  })
})

test('images, files and sounds are read', () => {
  const { messages } = decode({
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'low' },
          { type: 'input_image', image_url: 'https://example.com/a.png' },
          { type: 'input_image', file_id: 'file-1' },
          { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,aGk=' },
          { type: 'input_file', filename: 'a.PDF', file_data: 'aGk=' },
          { type: 'input_file', file_url: 'https://example.com/a.pdf' },
          { type: 'input_file', file_id: 'file-2' },
          { type: 'input_audio', input_audio: { data: 'aGk=', format: 'wav' } },
        ],
      },
    ],
  })
  const png = { kind: 'data', mediaType: 'image/png', data: 'aGk=' }
  const pdf = { kind: 'data', mediaType: 'application/pdf', data: 'aGk=' }
  assert.deepEqual(messages[0]?.parts, [
    { type: 'image', source: png, detail: 'low' },
    { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
    { type: 'image', source: { kind: 'id', id: 'file-1' } },
    { type: 'file', source: pdf, name: 'a.pdf' },
    { type: 'file', source: pdf, name: 'a.PDF' },
    { type: 'file', source: { kind: 'url', url: 'https://example.com/a.pdf' } },
    { type: 'file', source: { kind: 'id', id: 'file-2' } },
    { type: 'audio', format: 'wav', data: 'aGk=' },
  ])
})

test('items and content of other kinds are kept as they came', () => {
  const search = { type: 'web_search_call', id: 'ws_1', status: 'completed' }
  const strange = { type: 'input_video', url: 'https://example.com/v' }
  const { messages } = decode({
    input: [{ role: 'user', content: [{ type: 'input_text', text: 'Hi' }, strange] }, search, { id: 'msg_9' }],
  })
  assert.deepEqual(messages, [
    {
      role: 'user',
      parts: [
        { type: 'text', text: 'Hi' },
        { type: 'native', value: { type: 'message', role: 'user', content: [strange] } },
      ],
    },
    {
      role: 'assistant',
      parts: [
        { type: 'native', value: search },
        { type: 'native', value: { id: 'msg_9', type: 'item_reference' } },
      ],
    },
  ])
})

test('a custom tool takes an object with one text', () => {
  const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' }
  const { tools, messages } = decode({
    tools: [{ type: 'custom', name: 'patch', description: 'Patches', format }],
    input: [
      { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: 'a "b"\n' },
      { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
    ],
  })
  assert.deepEqual(tools, [{ name: 'patch', schema: INPUT_SCHEMA, custom: format, description: 'Patches' }])
  assert.deepEqual(messages[0]?.parts, [
    { type: 'toolCall', id: 'c1', name: 'patch', arguments: '{"input":"a \\"b\\"\\n"}', custom: true },
  ])
})

test('tools that the provider runs, and choices among them, stay in the rest', () => {
  const request = decode({
    tools: [{ type: 'function', name: 'f', parameters: { type: 'object' }, strict: true }, { type: 'web_search' }],
    tool_choice: { type: 'web_search' },
  })
  assert.deepEqual(request.tools, [{ name: 'f', schema: { type: 'object' }, strict: true }])
  assert.equal(request.toolChoice, null)
  assert.deepEqual(request.rest, { tools: [{ type: 'web_search' }], tool_choice: { type: 'web_search' } })
})

test('tools that may not be called are none', () => {
  const [f, g] = ['f', 'g'].map((name) => ({ type: 'function', name, parameters: { type: 'object' } }))
  const tool_choice = { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'f' }] }
  const request = decode({ tools: [f!, g!], tool_choice })
  assert.deepEqual(
    request.tools.map(({ name }) => name),
    ['f'],
  )
  assert.deepEqual(request.toolChoice, { kind: 'required' })
  assert.deepEqual(request.rest, { tools: [g] })
})

test('a tool may be named', () => {
  assert.deepEqual(decode({ tool_choice: { type: 'function', name: 'f' } }).toolChoice, { kind: 'tool', name: 'f' })
  assert.deepEqual(decode({ tool_choice: { type: 'custom', name: 'f' } }).toolChoice, { kind: 'tool', name: 'f' })
  assert.deepEqual(decode({ tool_choice: 'none' }).toolChoice, { kind: 'none' })
})

test('sampling, reasoning, output and the user are read', () => {
  const schema = { type: 'object', properties: {} }
  const request = decode({
    max_output_tokens: 100,
    temperature: 0,
    top_p: 0.5,
    parallel_tool_calls: false,
    reasoning: { effort: 'high', summary: 'detailed' },
    text: { format: { type: 'json_schema', name: 'out', schema, strict: true }, verbosity: 'low' },
    safety_identifier: 'u1',
    include: ['reasoning.encrypted_content'],
    truncation: null,
  })
  assert.deepEqual(request.sampling, { maxTokens: 100, temperature: 0, topP: 0.5 })
  assert.equal(request.parallelTools, false)
  assert.deepEqual(request.reasoning, {
    effort: 'high',
    include: true,
    rest: { effort: 'high', summary: 'detailed' },
  })
  assert.deepEqual(request.output, { kind: 'schema', name: 'out', schema, strict: true })
  assert.equal(request.user, 'u1')
  assert.deepEqual(request.rest, {
    safety_identifier: 'u1',
    include: ['reasoning.encrypted_content'],
    text: { verbosity: 'low' },
    truncation: null,
  })
})

test('a refusal names the field', () => {
  assert.equal(refusedField({ model: 3 }), 'model')
  assert.equal(refusedField({ input: 3 }), 'input')
  assert.equal(refusedField({ input: ['x'] }), 'input[0]')
  assert.equal(refusedField({ input: [{ role: 'robot', content: 'x' }] }), 'input[0].role')
  assert.equal(refusedField({ input: [{ role: 'user' }] }), 'input[0].content')
  assert.equal(
    refusedField({ input: [{ role: 'user', content: [{ type: 'input_text' }] }] }),
    'input[0].content[0].text',
  )
  assert.equal(
    refusedField({ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }),
    'input[0].content[0].image_url',
  )
  assert.equal(refusedField({ input: [{ type: 'function_call', call_id: 'c', name: 'f' }] }), 'input[0].arguments')
  assert.equal(refusedField({ input: [{ type: 'function_call_output', output: 'x' }] }), 'input[0].call_id')
  assert.equal(refusedField({ tools: [{ type: 'function' }] }), 'tools[0].name')
  assert.equal(refusedField({ tool_choice: 'maybe' }), 'tool_choice')
  assert.equal(refusedField({ text: { format: { type: 'xml' } } }), 'text.format.type')
  assert.equal(refusedField({ temperature: 'hot' }), 'temperature')
})

test('a field that needs stored state is refused for upstreams that store nothing', () => {
  const refusedBy = (body: object) => {
    const carried = carryRest(decode({ input: 'Hi', ...body }), 'completions', [])
    return carried instanceof UnsupportedField ? carried : null
  }
  for (const field of ['previous_response_id', 'conversation', 'prompt', 'background']) {
    const refused = refusedBy({ [field]: field === 'background' ? true : 'x' })
    assert.equal(refused?.field, field)
    assert.match(refused?.message ?? '', /^needs a provider that stores responses/)
  }
  assert.equal(refusedBy({ input: [{ type: 'item_reference', id: 'rs_1' }] })?.field, 'input[].id')
  assert.equal(refusedBy({ background: false, previous_response_id: null, store: true }), null)
})

test('any JSON is decoded or refused', () => {
  const item = fc.record(
    {
      type: fc.constantFrom('message', 'reasoning', 'function_call', 'function_call_output', 'custom_tool_call', 'x'),
      role: fc.constantFrom('user', 'assistant', 'system', 'developer', 'x'),
      content: fc.jsonValue(),
      summary: fc.jsonValue(),
      output: fc.jsonValue(),
      encrypted_content: fc.jsonValue(),
      call_id: fc.jsonValue(),
      arguments: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  const fields = fc.record(
    {
      input: fc.oneof(fc.jsonValue(), fc.array(item)),
      tools: fc.jsonValue(),
      tool_choice: fc.jsonValue(),
      reasoning: fc.jsonValue(),
      text: fc.jsonValue(),
      __proto__: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fields, (body) => {
      const request = decodeRequest(JSON.parse(JSON.stringify(body)))
      if (!(request instanceof UnsupportedField)) JSON.stringify(request)
    }),
  )
})
