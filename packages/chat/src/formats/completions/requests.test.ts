import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Json, JsonObject } from '../../middle.ts'
import { UnsupportedField } from '../../middle.ts'
import { decoded, encoded, throughJson } from '../../testing/exchange.ts'
import { messages } from '../messages/index.ts'
import { completions } from './index.ts'
import { requestBody } from './test-requests.ts'

const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json)
const user = (content: Json): JsonObject => ({ role: 'user', content })
const body = (changes: JsonObject): JsonObject => ({ model: 'm', messages: [user('hi')], ...changes })

describe('a request', () => {
  it('comes out for the same format as it went in', () => {
    fc.assert(
      fc.property(requestBody, (body) => {
        assert.deepEqual(encoded(completions, decoded(completions, body)).body, throughJson(body))
      }),
    )
  })

  it('for the same format loses nothing', () => {
    fc.assert(
      fc.property(requestBody, (body) => {
        assert.deepEqual(encoded(completions, decoded(completions, body)).losses, [])
      }),
    )
  })

  it('brings reasoning back, except to those who refuse it', () => {
    const assistant = { role: 'assistant', content: 'Hi', reasoning_content: 'Hm' }
    const request = decoded(completions, body({ messages: [user('hi'), assistant] }))
    assert.deepEqual(encoded(completions, request).body.messages, [user('hi'), assistant])
    const { body: sent, losses } = encoded(completions, request, ['noReasoningHistory'])
    assert.deepEqual(sent.messages, [user('hi'), { role: 'assistant', content: 'Hi' }])
    assert.deepEqual(losses, ['dropped messages[].reasoning_content'])
  })

  it('goes to Messages, or is refused with the name of the field', () => {
    fc.assert(
      fc.property(requestBody, (body) => {
        const target = { model: 'claude', quirks: new Set<string>(), toolNames: new Map<string, string>() }
        const result = messages.encodeRequest(decoded(completions, body), target, [])
        if (result instanceof UnsupportedField) assert.notEqual(result.field, '')
        else assert.ok(Array.isArray(throughJson(result).messages))
      }),
    )
  })

  it('any JSON is decoded or refused without an exception', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.array(json), (others, list) => {
        const changes: JsonObject[] = [{ messages: list }, { messages: [user(list)] }, { tools: list }]
        for (const changed of changes) {
          const result = completions.decodeRequest(body({ ...others, ...changed }))
          if (!(result instanceof UnsupportedField)) encoded(completions, result)
        }
      }),
    )
  })
})

describe('decoding', () => {
  it('reads every kind of part, and keeps what nobody knows', () => {
    const [message] = decoded(
      completions,
      body({
        messages: [
          {
            role: 'user',
            name: 'ann',
            content: [
              { type: 'text', text: 'look', cache_control: { type: 'ephemeral' }, extra: 1 },
              { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
              { type: 'image_url', image_url: 'https://example.com/a.png' },
              { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
              { type: 'file', file: { filename: 'a.pdf', file_data: 'JVBERi0=' } },
              { type: 'file', file: { file_id: 'file-1' } },
              { type: 'video_url', video_url: { url: 'x' } },
            ],
          },
        ],
      }),
    ).messages
    assert.deepEqual(message, {
      role: 'user',
      rest: { name: 'ann' },
      parts: [
        { type: 'text', text: 'look', cache: { type: 'ephemeral' }, rest: { extra: 1 } },
        { type: 'image', source: { kind: 'data', mediaType: 'image/png', data: 'AAAA' }, detail: 'low' },
        { type: 'image', source: { kind: 'url', url: 'https://example.com/a.png' } },
        { type: 'audio', format: 'wav', data: 'UklG' },
        { type: 'file', source: { kind: 'data', mediaType: 'application/pdf', data: 'JVBERi0=' }, name: 'a.pdf' },
        { type: 'file', source: { kind: 'id', id: 'file-1' } },
        { type: 'native', value: { type: 'video_url', video_url: { url: 'x' } } },
      ],
    })
  })

  it('puts the first instructions before the conversation, and leaves later ones in their place', () => {
    const { system, messages } = decoded(
      completions,
      body({
        messages: [
          { role: 'developer', content: 'one' },
          { role: 'system', content: [{ type: 'text', text: 'two' }] },
          user('hi'),
          { role: 'developer', content: 'three' },
        ],
      }),
    )
    assert.deepEqual(
      system.map(({ text }) => text),
      ['one', 'two'],
    )
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['user', 'system'],
    )
  })

  it('takes the results of parallel calls together', () => {
    const { messages } = decoded(
      completions,
      body({
        messages: [
          { role: 'tool', tool_call_id: 'a', content: 'x' },
          { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'y' }], name: 'f' },
          user('and?'),
          { role: 'tool', tool_call_id: 'c', content: 'z' },
        ],
      }),
    )
    assert.deepEqual(
      messages.map(({ parts }) => parts.map((part) => (part.type === 'toolResult' ? part.id : part.type))),
      [['a', 'b'], ['text'], ['c']],
    )
  })

  it('reads reasoning in all its spellings', () => {
    const reasoningOf = (members: JsonObject) =>
      decoded(completions, body({ messages: [{ role: 'assistant', content: null, ...members }] })).messages[0]?.parts
    assert.deepEqual(reasoningOf({ reasoning_content: 'a' }), [{ type: 'reasoning', text: 'a' }])
    assert.deepEqual(reasoningOf({ reasoning: 'b' }), [{ type: 'reasoning', text: 'b' }])
    assert.deepEqual(reasoningOf({ reasoning_content: 'c', reasoning_signature: 's' }), [
      { type: 'reasoning', text: 'c', signature: 'anthropic:s' },
    ])
    assert.deepEqual(reasoningOf({ reasoning_content: 'c', reasoning_signature: 'google:s' }), [
      { type: 'reasoning', text: 'c', signature: 'google:s' },
    ])
    assert.deepEqual(
      reasoningOf({
        reasoning: 'de',
        reasoning_details: [
          { type: 'reasoning.text', text: 'd', signature: 's1' },
          { type: 'reasoning.text', text: 'e', signature: 's2', format: 'google-gemini-v1' },
          { type: 'reasoning.encrypted', data: 'x', format: 'openai-responses-v1', id: 'rs_1' },
        ],
      }),
      [
        { type: 'reasoning', text: 'd', signature: 'anthropic:s1' },
        { type: 'reasoning', text: 'e', signature: 'google:s2' },
        { type: 'reasoning', text: '', opaque: 'openai:x', id: 'rs_1' },
      ],
    )
  })

  it('pairs the functions of old, which had no ids', () => {
    const { messages } = decoded(
      completions,
      body({
        messages: [
          { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
          { role: 'function', name: 'f', content: '1' },
          { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
          { role: 'function', name: 'f', content: '2' },
        ],
      }),
    )
    const ids = messages.map(({ parts: [part] }) =>
      part?.type === 'toolCall' || part?.type === 'toolResult' ? part.id : '',
    )
    assert.equal(ids[0], ids[1])
    assert.equal(ids[2], ids[3])
    assert.notEqual(ids[0], ids[2])
  })

  it('prefers the newer limit, and takes what SDKs send as null for absent', () => {
    const { sampling, user, reasoning, rest } = decoded(
      completions,
      body({
        max_tokens: 5,
        max_completion_tokens: 7,
        temperature: null,
        user: null,
        reasoning_effort: null,
        stop: 'x',
      }),
    )
    assert.deepEqual(sampling, { maxTokens: 7, stop: ['x'] })
    assert.deepEqual([user, reasoning, rest], [null, null, { max_completion_tokens: 7 }])
  })

  it('refuses wrong types with the path of the field', () => {
    const fieldOf = (changes: JsonObject): string => {
      const result = completions.decodeRequest(body(changes))
      return result instanceof UnsupportedField ? result.field : 'accepted'
    }
    assert.equal(fieldOf({ messages: 'hi' }), 'messages')
    assert.equal(fieldOf({ messages: [{ role: 'robot', content: 'x' }] }), 'messages[0].role')
    assert.equal(fieldOf({ messages: [user([{ type: 'text' }])] }), 'messages[0].content[0].text')
    assert.equal(fieldOf({ messages: [user('x'), user([{ type: 'image_url' }])] }), 'messages[1].content[0].image_url')
    assert.equal(fieldOf({ messages: [user(5)] }), 'messages[0].content')
    assert.equal(fieldOf({ temperature: 'hot' }), 'temperature')
    assert.equal(fieldOf({ stop: [1] }), 'stop')
    assert.equal(fieldOf({ tools: [{ type: 'function' }] }), 'tools[0].function')
    assert.equal(fieldOf({ tool_choice: 5 }), 'tool_choice')
    assert.equal(
      fieldOf({ response_format: { type: 'json_schema', json_schema: { schema: 5 } } }),
      'response_format.json_schema.schema',
    )
    assert.equal(completions.decodeRequest({ model: 'm' }) instanceof UnsupportedField, true)
  })

  it('is not confused by members named like those of every object', () => {
    const hostile = JSON.parse('{"model":"m","messages":[],"__proto__":{"stream":true},"constructor":1}') as JsonObject
    const request = decoded(completions, hostile)
    assert.equal(request.stream, false)
    assert.deepEqual(Object.keys(request.rest), ['__proto__', 'constructor'])
    assert.deepEqual(Object.keys(encoded(completions, request).body).sort(), [
      '__proto__',
      'constructor',
      'messages',
      'model',
    ])
  })
})

describe('encoding', () => {
  const quirky = (changes: JsonObject, ...quirks: string[]) =>
    encoded(completions, decoded(completions, body(changes)), quirks)

  it('asks for usage in every stream, and keeps what the client asked for', () => {
    assert.deepEqual(quirky({ stream: true }).body.stream_options, { include_usage: true })
    const { body } = quirky({ stream: true, stream_options: { include_usage: false, include_obfuscation: false } })
    assert.deepEqual(body.stream_options, { include_usage: true, include_obfuscation: false })
    assert.equal(quirky({ stream: true, stream_options: {} }, 'noStreamOptions').body.stream_options, undefined)
  })

  it('names the limit as the provider does', () => {
    assert.equal(quirky({ max_tokens: 5 }, 'completionTokens').body.max_completion_tokens, 5)
    assert.equal(quirky({ max_completion_tokens: 5 }).body.max_completion_tokens, 5)
    assert.equal(quirky({ max_tokens: 5 }).body.max_tokens, 5)
  })

  it('leaves out what the provider refuses, and says so', () => {
    const { body, losses } = quirky(
      { temperature: 1, top_p: 1, stop: 'x', seed: 1, reasoning_effort: 'low', user: 'u' },
      'noSampling',
      'noStop',
      'noSeed',
      'noReasoning',
      'noUser',
    )
    assert.deepEqual(Object.keys(body), ['model', 'messages'])
    assert.deepEqual(losses, [
      'dropped temperature',
      'dropped top_p',
      'dropped seed',
      'dropped stop',
      'dropped reasoning_effort',
      'dropped user',
    ])
  })

  it('does not reason with tools where the model cannot', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const { body, losses } = quirky({ tools, reasoning_effort: 'high' }, 'noReasoningWithTools')
    assert.equal(body.reasoning_effort, 'none')
    assert.deepEqual(losses, ['defaulted reasoning_effort'])
    assert.equal(quirky({ reasoning_effort: 'high' }, 'noReasoningWithTools').body.reasoning_effort, 'high')
  })

  it('writes texts for servers that take nothing else, and the role they want', () => {
    const parts = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b' },
    ]
    const { body } = quirky(
      {
        messages: [
          { role: 'system', content: parts },
          { role: 'assistant', content: parts },
        ],
      },
      'stringContent',
      'developerRole',
    )
    assert.deepEqual(body.messages, [
      { role: 'developer', content: 'a\nb' },
      { role: 'assistant', content: 'a\nb' },
    ])
  })

  it('falls back to JSON and an instruction where schemas are not known', () => {
    const format = { type: 'json_schema', json_schema: { name: 'n', schema: { type: 'object' } } }
    const { body, losses } = quirky({ response_format: format }, 'noJsonSchema')
    assert.deepEqual(body.response_format, { type: 'json_object' })
    assert.match(JSON.stringify(body.messages), /valid against this JSON Schema:\\n\{\\"type\\":\\"object\\"\}/)
    assert.deepEqual(losses, ['renamed response_format'])
  })

  it("gives Google's servers their signatures back", () => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }
    const signed = { ...call, extra_content: { google: { thought_signature: 'AAAA' } } }
    const sent = body({ messages: [{ role: 'assistant', content: null, tool_calls: [signed] }] })
    const request = decoded(completions, sent)
    assert.deepEqual(encoded(completions, request, ['googleSignatures']).body, throughJson(sent))
    assert.deepEqual(encoded(completions, request).body, throughJson(sent))
  })
})
