import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { Json, JsonObject } from '../../middle.ts'
import { UnsupportedField } from '../../middle.ts'
import { lacksThinking } from '../../request/passes-through.ts'
import { decoded, encoded, throughJson } from '../../testing/exchange.ts'
import { completions } from '../completions/index.ts'
import { messages } from './index.ts'
import { requestBody } from './test-requests.ts'

const json = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)) as Json)
const user = (content: Json): JsonObject => ({ role: 'user', content })
const body = (changes: JsonObject): JsonObject => ({ model: 'm', max_tokens: 100, messages: [user('hi')], ...changes })

describe('a request', () => {
  it('comes out for the same format as it went in, with all its marks and signatures', () => {
    fc.assert(
      fc.property(requestBody, (body) => {
        const request = decoded(messages, body)
        const { body: again, losses } = encoded(messages, request)
        const { thinking: _refused, ...others } = body
        assert.deepEqual(again, throughJson(lacksThinking(request) ? others : body))
        assert.deepEqual(losses, lacksThinking(request) ? ['dropped thinking'] : [])
      }),
    )
  })

  it('waits for its thinking until the calls of another vendor are answered', () => {
    const call: JsonObject = { type: 'tool_use', id: 'call_1', name: 'f', input: {} }
    const result = user([{ type: 'tool_result', tool_use_id: 'call_1', content: 'x' }])
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const thoughtOf = (...content: JsonObject[]) => {
      const request = body({ thinking, messages: [user('hi'), { role: 'assistant', content }, result] })
      return encoded(messages, decoded(messages, request))
    }
    const foreign = { type: 'redacted_thinking', data: 'openai:gAAA#rs_1' }
    const signed = { type: 'thinking', thinking: 'Hm', signature: 'EqQB' }
    assert.deepEqual(thoughtOf(signed, call).body.thinking, thinking)
    assert.equal(thoughtOf(call).body.thinking, undefined)
    assert.deepEqual(thoughtOf(call).losses, ['dropped thinking'])
    assert.equal(thoughtOf(foreign, call).body.thinking, undefined)
    assert.deepEqual(thoughtOf({ type: 'text', text: 'Done' }).body.thinking, thinking)
    const edits: Json = [{ type: 'clear_thinking_20251015', keep: 'all' }, { type: 'clear_tool_uses_20250919' }]
    const cleared = body({
      thinking,
      context_management: { edits },
      messages: [user('hi'), { role: 'assistant', content: [call] }, result],
    })
    const { body: sent, losses } = encoded(messages, decoded(messages, cleared))
    assert.deepEqual(sent.context_management, { edits: [{ type: 'clear_tool_uses_20250919' }] })
    assert.deepEqual(losses, ['dropped thinking', 'dropped context_management.edits[]'])
  })

  it('goes to Completions, or is refused with the name of the field', () => {
    fc.assert(
      fc.property(requestBody, (body) => {
        const target = { model: 'gpt', quirks: new Set<string>(), toolNames: new Map<string, string>() }
        const result = completions.encodeRequest(decoded(messages, body), target, [])
        if (result instanceof UnsupportedField) assert.notEqual(result.field, '')
        else assert.ok(Array.isArray(throughJson(result).messages))
      }),
    )
  })

  it('any JSON is decoded or refused without an exception', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), json), fc.array(json), (others, list) => {
        const changes: JsonObject[] = [
          { messages: list },
          { messages: [user(list)] },
          { tools: list },
          { system: list },
        ]
        for (const changed of changes) {
          const result = messages.decodeRequest(body({ ...others, ...changed }))
          if (!(result instanceof UnsupportedField)) encoded(messages, result)
        }
      }),
    )
  })
})

describe('decoding', () => {
  it('reads thinking with the name of its maker, so that it comes back only to it', () => {
    const {
      messages: [message],
    } = decoded(
      messages,
      body({
        messages: [
          {
            role: 'assistant',
            content: [
              { type: 'thinking', thinking: 'hm', signature: 'sig' },
              { type: 'thinking', thinking: 'of another', signature: 'openai:sig' },
              { type: 'thinking', thinking: 'unsigned', signature: '' },
              { type: 'redacted_thinking', data: 'blob' },
            ],
          },
        ],
      }),
    )
    assert.deepEqual(message?.parts, [
      { type: 'reasoning', text: 'hm', signature: 'anthropic:sig' },
      { type: 'reasoning', text: 'of another', signature: 'openai:sig' },
      { type: 'reasoning', text: 'unsigned' },
      { type: 'reasoning', text: '', opaque: 'anthropic:blob' },
    ])
    assert.deepEqual(
      encoded(
        messages,
        decoded(
          messages,
          body({
            messages: [
              {
                role: 'assistant',
                content: [
                  { type: 'thinking', thinking: 'x', signature: 'openai:s' },
                  { type: 'text', text: 'y' },
                ],
              },
            ],
          }),
        ),
      ).losses,
      ['dropped messages[].content[].thinking'],
    )
  })

  it('reads how much is to be thought', () => {
    const reasoningOf = (changes: JsonObject) => {
      const { reasoning } = decoded(messages, body(changes))
      return reasoning === null ? null : { ...reasoning, rest: undefined }
    }
    const known = (changes: JsonObject) => JSON.parse(JSON.stringify(reasoningOf(changes))) as unknown
    assert.equal(known({}), null)
    assert.deepEqual(known({ thinking: { type: 'enabled', budget_tokens: 5000 } }), { budget: 5000 })
    assert.deepEqual(known({ thinking: { type: 'disabled' } }), { effort: 'none' })
    assert.deepEqual(known({ thinking: { type: 'adaptive', display: 'omitted' } }), { effort: 'high', include: false })
    assert.deepEqual(known({ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }), { effort: 'max' })
    assert.deepEqual(known({ output_config: { effort: 'low' } }), { effort: 'low' })
  })

  it('reads the older name of structured output', () => {
    const format = { type: 'json_schema', schema: { type: 'object' } }
    const expected = { kind: 'schema', name: 'structured_output', schema: { type: 'object' } }
    assert.deepEqual(decoded(messages, body({ output_format: format })).output, expected)
    assert.deepEqual(decoded(messages, body({ output_config: { format } })).output, expected)
  })

  it('refuses wrong types with the path of the field', () => {
    const fieldOf = (changes: JsonObject): string => {
      const result = messages.decodeRequest(body(changes))
      return result instanceof UnsupportedField ? result.field : 'accepted'
    }
    assert.equal(fieldOf({ messages: {} }), 'messages')
    assert.equal(fieldOf({ messages: [{ role: 'tool', content: 'x' }] }), 'messages[0].role')
    assert.equal(fieldOf({ messages: [user([{ text: 'x' }])] }), 'messages[0].content[0].type')
    assert.equal(
      fieldOf({ messages: [user([{ type: 'image', source: { type: 'x' } }])] }),
      'messages[0].content[0].source.type',
    )
    assert.equal(fieldOf({ system: [{ type: 'image' }] }), 'system[0].type')
    assert.equal(fieldOf({ max_tokens: '5' }), 'max_tokens')
    assert.equal(fieldOf({ thinking: true }), 'thinking')
    assert.equal(fieldOf({ tools: [{ name: 'f', input_schema: 'x' }] }), 'tools[0].input_schema')
  })

  it('keeps instructions inside the conversation in their place', () => {
    const sent = body({
      messages: [user([{ type: 'text', text: 'a' }]), { role: 'system', content: [{ type: 'text', text: 'b' }] }],
    })
    assert.deepEqual(encoded(messages, decoded(messages, sent)).body, throughJson(sent))
  })
})

describe('quirks', () => {
  it('noOutputFormat: the schema becomes an instruction, also for clients of this format', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const format = { type: 'json_schema', schema }
    const request = decoded(messages, body({ system: 'Be brief.', output_config: { effort: 'low', format } }))
    const { body: sent, losses } = encoded(messages, request, ['noOutputFormat'])
    assert.deepEqual(sent.output_config, { effort: 'low' })
    assert.match(JSON.stringify(sent.system), /Be brief\..*valid against this JSON Schema/)
    assert.ok(JSON.stringify(sent.system).includes(JSON.stringify(JSON.stringify(schema)).slice(1, -1)))
    assert.deepEqual(losses, ['renamed output_config.format'])
  })

  it('noModel and noCacheScope: the body has neither a model nor a cache scope', () => {
    const cached = { type: 'text', text: 'x', cache_control: { type: 'ephemeral', scope: 'global' } }
    const { body: sent, losses } = encoded(messages, decoded(messages, body({ messages: [user([cached])] })), [
      'noModel',
      'noCacheScope',
    ])
    assert.equal('model' in sent, false)
    assert.deepEqual(sent.messages, [user([{ ...cached, cache_control: { type: 'ephemeral' } }])])
    assert.deepEqual(losses, ['dropped cache_control.scope'])
  })

  it('noSampling and temperatureOrTopP: refused fields are dropped and reported', () => {
    const request = decoded(messages, body({ temperature: 0.5, top_p: 0.9, top_k: 5 }))
    const none = encoded(messages, request, ['noSampling'])
    assert.deepEqual(Object.keys(none.body).sort(), ['max_tokens', 'messages', 'model'])
    assert.deepEqual(none.losses, ['dropped temperature', 'dropped top_p', 'dropped top_k'])
    const either = encoded(messages, request, ['temperatureOrTopP'])
    assert.deepEqual([either.body.temperature, either.body.top_p], [0.5, undefined])
  })
})
