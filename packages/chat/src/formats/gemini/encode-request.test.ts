import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { chatRequest } from '../../testing/chat-request.ts'
import type { ChatRequest, JsonObject, Loss, Message, Part } from '../../middle.ts'
import { UnsupportedField } from '../../middle.ts'
import { encodeRequest } from './encode-request.ts'

interface EncodedRequest {
  body: JsonObject
  losses: Loss[]
  toolNames: Map<string, string>
}

function encode(given: Partial<ChatRequest>, model = 'gemini-2.5-flash', quirks: string[] = []): EncodedRequest {
  const losses: Loss[] = []
  const toolNames = new Map<string, string>()
  const body = encodeRequest(chatRequest(given), { model, quirks: new Set(quirks), toolNames }, losses)
  assert.ok(!(body instanceof UnsupportedField), body instanceof UnsupportedField ? body.message : '')
  return { body, losses, toolNames }
}

function refusal(given: Partial<ChatRequest>): UnsupportedField {
  const target = { model: 'gemini-2.5-flash', quirks: new Set<string>(), toolNames: new Map() }
  const refused = encodeRequest(chatRequest(given), target, [])
  assert.ok(refused instanceof UnsupportedField)
  return refused
}

const paths = (losses: Loss[]) => losses.map(({ what, path }) => `${what} ${path}`).toSorted()
const user = (...parts: Part[]): Message => ({ role: 'user', parts })
const assistant = (...parts: Part[]): Message => ({ role: 'assistant', parts })
const text = (value: string): Part => ({ type: 'text', text: value })
const call = (id: string, name: string, args = '{}'): Part => ({ type: 'toolCall', id, name, arguments: args })
const result = (id: string, value: string, isError = false): Part => ({
  type: 'toolResult',
  id,
  parts: [{ type: 'text', text: value }],
  isError,
})

test('a conversation has its instructions apart and takes turns', () => {
  const { body, losses } = encode({
    system: [
      { type: 'text', text: 'Be brief.' },
      { type: 'text', text: ' ' },
    ],
    messages: [user(text('Hi')), user(text('there')), assistant(text('Hello')), user(text('Bye'))],
  })
  assert.deepEqual(body, {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    contents: [
      { role: 'user', parts: [{ text: 'Hi' }, { text: 'there' }] },
      { role: 'model', parts: [{ text: 'Hello' }] },
      { role: 'user', parts: [{ text: 'Bye' }] },
    ],
  })
  assert.deepEqual(losses, [])
})

test('an empty turn says a space', () => {
  assert.deepEqual(encode({ messages: [user(), assistant(text(''))] }).body.contents, [
    { role: 'user', parts: [{ text: ' ' }] },
    { role: 'model', parts: [{ text: ' ' }] },
  ])
})

test('instructions inside the conversation move to its front', () => {
  const { body } = encode({ messages: [user(text('a')), { role: 'system', parts: [text('b')] }] })
  assert.deepEqual(body.systemInstruction, { parts: [{ text: 'b' }] })
})

test('results follow the calls in their order, before what the user says', () => {
  const { body } = encode({
    messages: [
      user(text('?')),
      assistant(text('wait'), call('1', 'sum', '{"a":1}'), call('2', 'now')),
      user(result('2', 'noon')),
      user(text('thanks'), result('1', '{"sum":3}')),
    ],
  })
  assert.deepEqual(body.contents, [
    { role: 'user', parts: [{ text: '?' }] },
    {
      role: 'model',
      parts: [
        { text: 'wait' },
        { functionCall: { name: 'sum', args: { a: 1 } } },
        { functionCall: { name: 'now', args: {} } },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { name: 'sum', response: { sum: 3 } } },
        { functionResponse: { name: 'now', response: { output: 'noon' } } },
      ],
    },
    { role: 'user', parts: [{ text: 'thanks' }] },
  ])
})

test('ids of calls are sent where the provider takes them', () => {
  const messages = [assistant(call('1', 'now')), user(result('1', 'noon'))]
  assert.deepEqual(encode({ messages }, 'gemini-2.5-flash', ['callIds']).body.contents, [
    { role: 'model', parts: [{ functionCall: { id: '1', name: 'now', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { id: '1', name: 'now', response: { output: 'noon' } } }] },
  ])
})

test('failed tools say error, and answers that look like one are wrapped', () => {
  const messages = [
    assistant(call('1', 'a'), call('2', 'b'), call('3', 'c'), call('4', 'd')),
    user(
      result('1', 'no', true),
      result('2', '{"error":"x"}'),
      result('3', '{"id":12345678901234567890}'),
      result('4', '[1]'),
    ),
  ]
  const [, results] = encode({ messages }).body.contents as { parts: { functionResponse: JsonObject }[] }[]
  assert.deepEqual(
    results?.parts.map(({ functionResponse }) => functionResponse.response),
    [{ error: 'no' }, { output: { error: 'x' } }, { output: '{"id":12345678901234567890}' }, { output: '[1]' }],
  )
})

test('a result that answers no call is refused by its field', () => {
  assert.equal(refusal({ messages: [user(result('1', 'x'))] }).field, 'messages[].tool_call_id')
  assert.equal(
    refusal({ format: 'messages', messages: [user(result('1', 'x'))] }).field,
    'messages[].content[].tool_use_id',
  )
})

test('arguments that are no object become one', () => {
  const { body, losses } = encode({
    messages: [assistant(call('1', 'a', '[1]'), call('2', 'b', '{oops'), call('3', 'c', ''))],
  })
  assert.deepEqual(body.contents, [
    {
      role: 'model',
      parts: [
        { functionCall: { name: 'a', args: { INVALID_JSON: '[1]' } } },
        { functionCall: { name: 'b', args: { INVALID_JSON: '{oops' } } },
        { functionCall: { name: 'c', args: {} } },
      ],
    },
  ])
  assert.deepEqual(paths(losses), ['renamed messages[].tool_calls[].function.arguments'])
})

test('signatures return to the parts that they came with', () => {
  const { body, losses } = encode(
    {
      messages: [
        assistant(
          { type: 'reasoning', text: 'hm', signature: 'google:AAEC' },
          text('Look:'),
          { type: 'toolCall', id: 'call_1', name: 'a', arguments: '{}', signature: 'google:BAUG' },
          { type: 'toolCall', id: 'call_2', name: 'b', arguments: '{}', signature: 'google:BwgJ' },
        ),
        user(result('call_1', 'x'), result('call_2', 'y')),
        assistant({ type: 'reasoning', text: '', signature: 'google:CgsM' }),
      ],
    },
    'gemini-3-flash-preview',
    ['callIds'],
  )
  assert.deepEqual(body.contents, [
    {
      role: 'model',
      parts: [
        { text: 'hm', thought: true },
        { text: 'Look:', thoughtSignature: 'AAEC' },
        { functionCall: { id: 'call_1', name: 'a', args: {} }, thoughtSignature: 'BAUG' },
        { functionCall: { id: 'call_2', name: 'b', args: {} }, thoughtSignature: 'BwgJ' },
      ],
    },
    {
      role: 'user',
      parts: [
        { functionResponse: { id: 'call_1', name: 'a', response: { output: 'x' } } },
        { functionResponse: { id: 'call_2', name: 'b', response: { output: 'y' } } },
      ],
    },
    { role: 'model', parts: [{ text: '', thoughtSignature: 'CgsM' }] },
  ])
  assert.deepEqual(losses, [])
})

test('signatures of other vendors are dropped, and Gemini 3 is told that a call is unsigned', () => {
  const messages = [
    assistant({ type: 'reasoning', text: 'hm', signature: 'anthropic:xyz' }, call('1', 'a'), call('2', 'b')),
  ]
  const { body, losses } = encode({ messages }, 'gemini-3-pro-preview')
  assert.deepEqual(body.contents, [
    {
      role: 'model',
      parts: [
        { text: 'hm', thought: true },
        { functionCall: { name: 'a', args: {} }, thoughtSignature: 'skip_thought_signature_validator' },
        { functionCall: { name: 'b', args: {} } },
      ],
    },
  ])
  assert.deepEqual(paths(losses), ['defaulted messages[].tool_calls[].id', 'dropped messages[].reasoning_content'])
})

test('images, files and sounds travel as bytes, or by an address at Google', () => {
  const { body } = encode({
    messages: [
      user(
        { type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'AAEC' } },
        { type: 'image', source: { kind: 'url', url: 'gs://bucket/cat.JPG' } },
        { type: 'file', source: { kind: 'data', mediaType: 'application/pdf', data: 'AAEC' } },
        { type: 'file', source: { kind: 'url', url: 'gs://bucket/x', mediaType: 'text/plain' } },
        { type: 'audio', format: 'wav', data: 'AAEC' },
      ),
    ],
  })
  assert.deepEqual(body.contents, [
    {
      role: 'user',
      parts: [
        { inlineData: { mimeType: 'image/png', data: 'AAEC' } },
        { fileData: { mimeType: 'image/jpeg', fileUri: 'gs://bucket/cat.JPG' } },
        { inlineData: { mimeType: 'application/pdf', data: 'AAEC' } },
        { fileData: { mimeType: 'text/plain', fileUri: 'gs://bucket/x' } },
        { inlineData: { mimeType: 'audio/wav', data: 'AAEC' } },
      ],
    },
  ])
})

test('remote media is refused by the name of its field', () => {
  const remote: Part = { type: 'image', source: { kind: 'url', url: 'https://example.com/cat.png' } }
  assert.equal(refusal({ messages: [user(remote)] }).field, 'messages[].content[].image_url')
  assert.equal(refusal({ format: 'messages', messages: [user(remote)] }).field, 'messages[].content[].source')
  assert.equal(refusal({ format: 'responses', messages: [user(remote)] }).field, 'input[].content[].image_url')
  refusal({ messages: [user({ type: 'file', source: { kind: 'id', id: 'file-1' } })] })
  refusal({ messages: [user({ type: 'image', source: { kind: 'url', url: 'gs://bucket/no-extension' } })] })
})

test('images in results stand in them from Gemini 3 on, and beside them before', () => {
  const messages = [
    assistant(call('1', 'look')),
    user({
      type: 'toolResult',
      id: '1',
      parts: [{ type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'AAEC' } }],
      isError: false,
    }),
  ]
  const media = { inlineData: { mimeType: 'image/png', data: 'AAEC' } }
  const response = { name: 'look', response: { output: '' } }
  const older = encode({ messages }).body.contents
  assert.deepEqual(Array.isArray(older) && older[1], { role: 'user', parts: [{ functionResponse: response }, media] })
  const newer = encode({ messages }, 'gemini-3-flash').body.contents
  assert.deepEqual(Array.isArray(newer) && newer[1], {
    role: 'user',
    parts: [{ functionResponse: { ...response, parts: [media] } }],
  })
})

test('tools are declared under names that Gemini takes', () => {
  const { body, toolNames, losses } = encode({
    tools: [
      { name: 'mcp/now', description: 'The time', schema: { type: 'object', properties: {} } },
      {
        name: 'sum',
        schema: { type: 'object', properties: { a: { type: 'number' } }, additionalProperties: false },
        strict: true,
      },
    ],
    toolChoice: { kind: 'tool', name: 'mcp/now' },
    parallelTools: false,
    messages: [assistant(call('1', 'mcp/now')), user(result('1', 'x'))],
  })
  assert.deepEqual(body.tools, [
    {
      functionDeclarations: [
        { name: 'mcp_now', description: 'The time' },
        { name: 'sum', parameters: { type: 'OBJECT', properties: { a: { type: 'NUMBER' } } } },
      ],
    },
  ])
  assert.deepEqual(body.toolConfig, { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['mcp_now'] } })
  assert.deepEqual(body.contents, [
    { role: 'model', parts: [{ functionCall: { name: 'mcp_now', args: {} } }] },
    { role: 'user', parts: [{ functionResponse: { name: 'mcp_now', response: { output: 'x' } } }] },
  ])
  assert.deepEqual([...toolNames], [['mcp_now', 'mcp/now']])
  assert.deepEqual(paths(losses), [
    'dropped parallel_tool_calls',
    'dropped tools[].function.parameters',
    'dropped tools[].function.strict',
  ])
})

test('the choice of tools is a mode', () => {
  const tools = [{ name: 'a', schema: {} }]
  const mode = (kind: 'auto' | 'none' | 'required') => encode({ tools, toolChoice: { kind } }).body.toolConfig
  assert.deepEqual(mode('auto'), { functionCallingConfig: { mode: 'AUTO' } })
  assert.deepEqual(mode('none'), { functionCallingConfig: { mode: 'NONE' } })
  assert.deepEqual(mode('required'), { functionCallingConfig: { mode: 'ANY' } })
  assert.equal(encode({ tools }).body.toolConfig, undefined)
  assert.equal(encode({ toolChoice: { kind: 'auto' } }).body.toolConfig, undefined)
})

test('sampling and the form of the answer are the generation config', () => {
  const { body } = encode({
    sampling: {
      maxTokens: 5,
      temperature: 0,
      topP: 0.5,
      topK: 3,
      frequencyPenalty: 1,
      presencePenalty: -1,
      seed: 7,
      stop: ['END'],
    },
    output: { kind: 'schema', name: 'n', schema: { properties: { b: { type: 'string' }, a: { type: 'string' } } } },
  })
  assert.deepEqual(body.generationConfig, {
    maxOutputTokens: 5,
    temperature: 0,
    topP: 0.5,
    topK: 3,
    frequencyPenalty: 1,
    presencePenalty: -1,
    seed: 7,
    stopSequences: ['END'],
    responseMimeType: 'application/json',
    responseSchema: {
      type: 'OBJECT',
      properties: { b: { type: 'STRING' }, a: { type: 'STRING' } },
      propertyOrdering: ['b', 'a'],
    },
  })
  assert.deepEqual(encode({ output: { kind: 'json' } }).body.generationConfig, { responseMimeType: 'application/json' })
})

test('thinking is a budget before Gemini 3, and a level from then on', () => {
  const thinking = (reasoning: ChatRequest['reasoning'], model: string) => {
    const { generationConfig } = encode({ reasoning }, model).body
    return (generationConfig as { thinkingConfig: JsonObject } | undefined)?.thinkingConfig
  }
  assert.deepEqual(thinking({ effort: 'low' }, 'gemini-2.5-flash'), { thinkingBudget: 1024, includeThoughts: true })
  assert.deepEqual(thinking({ effort: 'max' }, 'gemini-2.5-pro'), { thinkingBudget: 16384, includeThoughts: true })
  assert.deepEqual(thinking({ effort: 'none' }, 'gemini-2.5-flash'), { thinkingBudget: 0, includeThoughts: false })
  assert.deepEqual(thinking({ effort: 'none' }, 'gemini-2.5-pro'), { thinkingBudget: 128, includeThoughts: false })
  assert.deepEqual(thinking({ budget: 500, include: false }, 'gemini-3-pro'), {
    thinkingBudget: 500,
    includeThoughts: false,
  })
  assert.deepEqual(thinking({ effort: 'medium' }, 'gemini-3-flash'), { thinkingLevel: 'medium', includeThoughts: true })
  assert.deepEqual(thinking({ effort: 'medium' }, 'gemini-3-pro-preview'), {
    thinkingLevel: 'high',
    includeThoughts: true,
  })
  assert.deepEqual(thinking({ effort: 'xhigh' }, 'models/gemini-4-pro'), {
    thinkingLevel: 'high',
    includeThoughts: true,
  })
  assert.deepEqual(thinking({ effort: 'minimal' }, 'gemini-3.1-pro'), { thinkingLevel: 'low', includeThoughts: true })
  assert.deepEqual(thinking({ effort: 'minimal' }, 'gemini-3.8-flash'), { thinkingLevel: 'low', includeThoughts: true })
  assert.deepEqual(thinking({ effort: 'none' }, 'gemini-3-flash'), { thinkingLevel: 'minimal', includeThoughts: false })
  assert.deepEqual(thinking({ effort: 'high' }, 'tunedModels/mine'), { thinkingBudget: 4096, includeThoughts: true })
  assert.equal(thinking({ effort: 'high' }, 'gemini-2.0-flash'), undefined)
  assert.equal(thinking(null, 'gemini-3-flash'), undefined)
})

test('fields of Gemini that a client sets in its own format are passed on', () => {
  const rest = {
    safety_settings: [{ category: 'HARM_CATEGORY_HATE_SPEECH', threshold: 'BLOCK_NONE' }],
    extra_body: { google: { thinking_config: { thinking_budget: 5, include_thoughts: true }, labels: { team: 'a' } } },
  }
  const { body, losses } = encode({ rest, reasoning: { effort: 'high' } })
  assert.deepEqual(body.safetySettings, rest.safety_settings)
  assert.deepEqual(body.labels, { team: 'a' })
  assert.deepEqual(body.generationConfig, { thinkingConfig: { thinkingBudget: 5, includeThoughts: true } })
  assert.deepEqual(losses, [])
})

test('cached content brings its own instructions and tools', () => {
  const { body, losses } = encode({
    rest: { cached_content: 'cachedContents/1' },
    system: [{ type: 'text', text: 'Be brief.' }],
    tools: [{ name: 'a', schema: {} }],
  })
  assert.deepEqual(body, { contents: [], cachedContent: 'cachedContents/1' })
  assert.deepEqual(paths(losses), ['dropped system', 'dropped tools'])
})

test('fields that Gemini cannot express are reported or refused', () => {
  const { losses } = encode({
    user: 'me',
    system: [{ type: 'text', text: 'x', cache: { type: 'ephemeral' } }],
    messages: [user({ type: 'native', value: { type: 'search_result' } })],
    rest: { logit_bias: {} },
  })
  assert.deepEqual(paths(losses), [
    'dropped cache_control',
    'dropped logit_bias',
    'dropped messages[].content[]',
    'dropped user',
  ])
})

test('the number of choices is carried for clients that have a word for it', () => {
  assert.deepEqual(encode({ format: 'completions', rest: { n: 2 } }).body.generationConfig, { candidateCount: 2 })
  assert.equal(encode({ format: 'completions', rest: { n: 1 } }).body.generationConfig, undefined)
  for (const n of [0, -1, 1.5, 129, '2']) {
    assert.equal(refusal({ format: 'completions', rest: { n } }).field, 'n', String(n))
  }
})

test('any conversation alternates between kinds of turns, and pairs results with calls', () => {
  fc.assert(
    fc.property(conversations, (messages) => {
      const { contents } = encode({ messages }, 'gemini-3-flash', ['callIds']).body
      assert.ok(Array.isArray(contents))
      const kinds = (contents as { role: string; parts: JsonObject[] }[]).map(({ role, parts }) => {
        assert.ok(parts.length > 0)
        const results = parts.filter((part) => part.functionResponse !== undefined).length
        assert.ok(results === 0 || results === parts.length)
        return `${role} ${results > 0}`
      })
      for (const [at, kind] of kinds.entries()) assert.notEqual(kind, kinds[at - 1])
      const flat = JSON.stringify(contents)
      for (const { parts } of messages) {
        for (const part of parts) if (part.type === 'toolCall') assert.ok(flat.includes(JSON.stringify(part.id)))
      }
    }),
  )
})

const conversations = fc
  .array(
    fc.oneof(
      fc.array(fc.string(), { maxLength: 2 }).map((texts) => [user(...texts.map(text))]),
      fc.nat(3).map((calls) => {
        const ids = Array.from({ length: calls }, (_, at) => `call_${at}`)
        return [
          assistant(text('x'), ...ids.map((id) => call(id, `tool ${id}`))),
          ...ids.map((id) => user(result(id, 'y'))),
        ]
      }),
    ),
    { maxLength: 6 },
  )
  .map((groups) => groups.flat())
