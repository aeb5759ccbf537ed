import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { textAt } from '@portico/http/json'
import type { Json, JsonObject } from '../../middle.ts'
import { UnsupportedField } from '../../middle.ts'
import { decoded, encoded } from '../../testing/exchange.ts'
import { completions } from '../completions/index.ts'
import { messages } from './index.ts'

/** Translates the request of a Completions client for a Messages provider. */
function translate(changes: JsonObject, ...quirks: string[]) {
  const body = { model: 'claude', max_tokens: 8192, messages: [user('hi')], ...changes }
  return encoded(messages, decoded(completions, body), quirks)
}

function fieldRefused(changes: JsonObject): string {
  const request = decoded(completions, { model: 'claude', messages: [user('hi')], ...changes })
  const result = messages.encodeRequest(request, { model: 'm', quirks: new Set(), toolNames: new Map() }, [])
  return result instanceof UnsupportedField ? result.field : 'accepted'
}

const user = (content: Json): JsonObject => ({ role: 'user', content })
const text = (text: string): JsonObject => ({ type: 'text', text })
const call = (id: string, name: string, args: string): JsonObject => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const tool = (name: string, changes: JsonObject = {}): JsonObject => ({
  type: 'function',
  function: { name, description: 'd', parameters: { type: 'object', properties: {} }, ...changes },
})

describe('a conversation', () => {
  it('has its instructions in front, joined by line, wherever they stood', () => {
    const { body, losses } = translate({
      messages: [
        { role: 'system', content: 'one' },
        { role: 'developer', content: [text('two'), text(' ')] },
        user('hi'),
        { role: 'system', content: 'three' },
      ],
    })
    assert.equal(body.system, 'one\ntwo\nthree')
    assert.deepEqual(body.messages, [user([text('hi')])])
    assert.deepEqual(losses, ['renamed messages[].role'])
  })

  it('keeps them in their place where the model takes that', () => {
    const { body, losses } = translate({ messages: [user('hi'), { role: 'system', content: 'b' }] }, 'systemMessages')
    assert.deepEqual(body.messages, [user([text('hi')]), { role: 'system', content: [text('b')] }])
    assert.deepEqual(losses, [])
  })

  it('shows images and documents', () => {
    const { body, losses } = translate({
      messages: [
        user([
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'high' } },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
          { type: 'file', file: { filename: 'a.csv', file_data: 'data:text/csv;base64,YSxiCg==' } },
        ]),
      ],
    })
    assert.deepEqual(body.messages, [
      user([
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
        { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
        {
          type: 'document',
          source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
          title: 'a.pdf',
        },
        { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b\n' }, title: 'a.csv' },
      ]),
    ])
    assert.deepEqual(losses, ['dropped messages[].content[].image_url.detail', 'renamed messages[].content[].file'])
  })

  it('has calls and their results, parallel ones in one turn', () => {
    const { body, losses } = translate({
      messages: [
        {
          role: 'assistant',
          content: '',
          tool_calls: [call('c1', 'f', '{"a": 1}'), call('c2', 'g', ''), call('c.3', 'h', '{"a"')],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'x' },
        { role: 'tool', tool_call_id: 'c2', content: [text('y'), text('z')] },
        { role: 'tool', tool_call_id: 'c.3', content: '' },
        { role: 'assistant', content: 'done', refusal: 'but no' },
      ],
    })
    const [calls, results, last] = body.messages as JsonObject[]
    const [, , third] = calls!.content as JsonObject[]
    const thirdId = textAt(third!, 'id')!
    assert.match(thirdId, /^c_3_[0-9a-f]{8}$/)
    assert.deepEqual(calls!.content, [
      { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
      { type: 'tool_use', id: 'c2', name: 'g', input: {} },
      { type: 'tool_use', id: thirdId, name: 'h', input: { INVALID_JSON: '{"a"' } },
    ])
    assert.deepEqual(
      results,
      user([
        { type: 'tool_result', tool_use_id: 'c1', content: 'x' },
        { type: 'tool_result', tool_use_id: 'c2', content: [text('y'), text('z')] },
        { type: 'tool_result', tool_use_id: thirdId },
      ]),
    )
    assert.deepEqual(last?.content, [text('done'), text('but no')])
    assert.deepEqual(losses, ['renamed messages[].tool_calls[].function.arguments'])
  })

  it('keeps long numbers in arguments to the digit', () => {
    const request = decoded(completions, {
      model: 'm',
      messages: [{ role: 'assistant', content: null, tool_calls: [call('c1', 'f', '{"id":12345678901234567890}')] }],
    })
    const body = messages.encodeRequest(request, { model: 'm', quirks: new Set(), toolNames: new Map() }, [])
    assert.match(JSON.stringify(body), /"input":\{"id":12345678901234567890\}/)
  })

  it('gives signed and sealed thinking back, and drops what others made', () => {
    const { body, losses } = translate({
      messages: [
        {
          role: 'assistant',
          content: 'ok',
          reasoning_content: 'abc',
          reasoning_details: [
            { type: 'reasoning.text', text: 'a', signature: 'anthropic:s' },
            { type: 'reasoning.encrypted', data: 'anthropic:e' },
            { type: 'reasoning.encrypted', data: 'openai:e' },
            { type: 'reasoning.text', text: 'c' },
          ],
        },
      ],
    })
    assert.deepEqual((body.messages as JsonObject[])[0]!.content, [
      { type: 'thinking', thinking: 'a', signature: 's' },
      { type: 'redacted_thinking', data: 'e' },
      text('ok'),
    ])
    assert.deepEqual(losses, ['dropped messages[].reasoning_content'])
  })

  it('without anything to say is left out', () => {
    const { body } = translate({ messages: [user(''), { role: 'assistant', content: '' }, user('hi')] })
    assert.deepEqual(body.messages, [user([text('hi')])])
  })

  it('keeps marks for the cache', () => {
    const cache = { cache_control: { type: 'ephemeral' } }
    const { body, losses } = translate({
      messages: [{ role: 'system', content: [{ ...text('s'), ...cache }] }, user([{ ...text('u'), ...cache }])],
      tools: [{ ...tool('f'), ...cache }],
    })
    assert.deepEqual(body.system, [{ ...text('s'), ...cache }])
    assert.deepEqual(body.messages, [user([{ ...text('u'), ...cache }])])
    assert.deepEqual((body.tools as JsonObject[])[0]!.cache_control, cache.cache_control)
    assert.deepEqual(losses, [])
  })

  it('with what the provider cannot read is refused by name', () => {
    const content = (part: JsonObject) => ({ messages: [user([part])] })
    assert.equal(
      fieldRefused(content({ type: 'input_audio', input_audio: { data: 'x', format: 'wav' } })),
      'messages[].content[].input_audio',
    )
    assert.equal(fieldRefused(content({ type: 'file', file: { file_id: 'f' } })), 'messages[].content[].file.file_id')
    assert.equal(
      fieldRefused(content({ type: 'file', file: { file_data: 'data:application/zip;base64,AAAA' } })),
      'messages[].content[].file',
    )
    assert.equal(fieldRefused({ n: 2 }), 'n')
    assert.equal(fieldRefused({ functions: [{ name: 'f' }] }), 'functions')
    assert.equal(fieldRefused({ tool_choice: { type: 'allowed_tools', allowed_tools: {} } }), 'tool_choice')
  })
})

describe('options', () => {
  it('have a limit, which is demanded', () => {
    const { body, losses } = translate({ max_tokens: null })
    assert.equal(body.max_tokens, 4096)
    assert.deepEqual(losses, ['defaulted max_tokens'])
    assert.equal(translate({ max_completion_tokens: 9 }).body.max_tokens, 9)
  })

  it('are carried where both know them, and reported where not', () => {
    const { body, losses } = translate({
      temperature: 1.5,
      top_p: 0.5,
      stop: ['a'],
      user: 'u1',
      stream: true,
      stream_options: { include_usage: true },
      seed: 1,
      frequency_penalty: 1,
      presence_penalty: 1,
      logit_bias: { 1: 2 },
      logprobs: true,
    })
    const { model: _model, messages: _messages, max_tokens: _limit, ...options } = body
    assert.deepEqual(options, {
      temperature: 1,
      top_p: 0.5,
      stop_sequences: ['a'],
      stream: true,
      metadata: { user_id: 'u1' },
    })
    assert.deepEqual(losses, [
      'dropped logit_bias',
      'dropped logprobs',
      'renamed temperature',
      'dropped frequency_penalty',
      'dropped presence_penalty',
      'dropped seed',
    ])
  })

  it('tool choices are translated', () => {
    const choiceOf = (changes: JsonObject) => translate({ tools: [tool('f')], ...changes }).body.tool_choice
    assert.equal(choiceOf({}), undefined)
    assert.deepEqual(choiceOf({ tool_choice: 'auto' }), { type: 'auto' })
    assert.deepEqual(choiceOf({ tool_choice: 'required' }), { type: 'any' })
    assert.deepEqual(choiceOf({ tool_choice: 'none' }), { type: 'none' })
    assert.deepEqual(choiceOf({ tool_choice: { type: 'function', function: { name: 'f' } } }), {
      type: 'tool',
      name: 'f',
    })
    assert.deepEqual(choiceOf({ parallel_tool_calls: false }), { type: 'auto', disable_parallel_tool_use: true })
    assert.deepEqual(choiceOf({ parallel_tool_calls: true }), undefined)
    assert.deepEqual(choiceOf({ parallel_tool_calls: false, tool_choice: 'required' }), {
      type: 'any',
      disable_parallel_tool_use: true,
    })
    const { body, losses } = translate({
      tools: [tool('f', { strict: true }), { type: 'function', function: { name: 'g' } }],
    })
    assert.deepEqual(body.tools, [
      { name: 'f', description: 'd', input_schema: { type: 'object', properties: {} } },
      { name: 'g', input_schema: { type: 'object', properties: {} } },
    ])
    assert.deepEqual(losses, ['dropped tools[].function.strict'])
    assert.deepEqual(
      (translate({ tools: [tool('f', { strict: true })] }, 'strictTools').body.tools as JsonObject[])[0]!.strict,
      true,
    )
  })

  it('turn tools that take free text into tools that take one', () => {
    const custom = {
      name: 'sql',
      description: 'Runs it.',
      format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'G' } },
    }
    const { body, losses } = translate({
      tools: [{ type: 'custom', custom }],
      messages: [
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'sql', input: 'SELECT "1"' } }],
        },
      ],
    })
    const [declared] = body.tools as JsonObject[]
    assert.match(textAt(declared!, 'description')!, /^Runs it\.\n\nThe input must match this lark grammar:\nG$/)
    assert.deepEqual((body.messages as JsonObject[])[0]!.content, [
      { type: 'tool_use', id: 'c', name: 'sql', input: { input: 'SELECT "1"' } },
    ])
    assert.deepEqual(losses, ['renamed tools[].custom.format'])
  })

  it('structured output forces a schema, with `additionalProperties` closed as the provider requires', () => {
    const schema = { type: 'object', properties: { a: { type: 'array', items: { type: 'object', properties: {} } } } }
    const { body, losses } = translate({ response_format: { type: 'json_schema', json_schema: { name: 'n', schema } } })
    const closed = { additionalProperties: false }
    assert.deepEqual(body.output_config, {
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { a: { type: 'array', items: { type: 'object', properties: {}, ...closed } } },
          ...closed,
        },
      },
    })
    assert.deepEqual(losses, ['defaulted response_format'])
  })

  it('for JSON of any shape become an instruction', () => {
    const { body, losses } = translate({
      response_format: { type: 'json_object' },
      messages: [{ role: 'system', content: 's' }, user('u')],
    })
    assert.equal(body.system, 's\nAnswer with one JSON object and nothing else.')
    assert.equal(body.output_config, undefined)
    assert.deepEqual(losses, ['renamed response_format'])
  })
})

describe('thinking', () => {
  const thinkingOf = (changes: JsonObject, ...quirks: string[]) => translate(changes, ...quirks).body.thinking

  it('gets a budget from the word, within the limit', () => {
    assert.deepEqual(thinkingOf({ reasoning_effort: 'low' }), { type: 'enabled', budget_tokens: 1024 })
    assert.deepEqual(thinkingOf({ reasoning_effort: 'high' }), { type: 'enabled', budget_tokens: 4096 })
    assert.deepEqual(thinkingOf({ reasoning_effort: 'high', max_tokens: 2000 }), {
      type: 'enabled',
      budget_tokens: 1999,
    })
    assert.equal(thinkingOf({ reasoning_effort: 'high', max_tokens: 1024 }), undefined)
    assert.equal(thinkingOf({ reasoning_effort: 'none' }), undefined)
    assert.equal(thinkingOf({}), undefined)
  })

  it('leaves room for the answer where the client set no limit', () => {
    const { body } = translate({ reasoning_effort: 'high', max_tokens: null })
    assert.equal(body.max_tokens, 8192)
    assert.deepEqual(body.thinking, { type: 'enabled', budget_tokens: 4096 })
  })

  it('is left to models that decide by themselves', () => {
    const { body, losses } = translate({ reasoning_effort: 'xhigh' }, 'adaptiveThinking')
    assert.deepEqual(body.thinking, { type: 'adaptive' })
    assert.deepEqual(body.output_config, { effort: 'high' })
    assert.deepEqual(losses, ['renamed reasoning_effort'])
  })

  it('excludes sampling that would be refused beside it', () => {
    const { body, losses } = translate({ reasoning_effort: 'low', temperature: 0.5, top_p: 0.5, top_k: 3 })
    assert.deepEqual([body.temperature, body.top_p, body.top_k], [undefined, undefined, undefined])
    assert.deepEqual(losses, ['dropped temperature', 'dropped top_p', 'dropped top_k'])
    assert.equal(translate({ reasoning_effort: 'low', temperature: 1, top_p: 0.95 }).body.top_p, 0.95)
  })

  it('gives way to a forced tool, and to calls whose thinking is gone', () => {
    assert.equal(thinkingOf({ reasoning_effort: 'low', tools: [tool('f')], tool_choice: 'required' }), undefined)
    const assistant = { role: 'assistant', content: null, tool_calls: [call('c1', 'f', '{}')] }
    const result = { role: 'tool', tool_call_id: 'c1', content: 'x' }
    const { body, losses } = translate({ reasoning_effort: 'low', messages: [user('a'), assistant, result] })
    assert.equal(body.thinking, undefined)
    assert.deepEqual(losses, ['dropped reasoning_effort'])
    const signed = { ...assistant, reasoning_content: 'hm', reasoning_signature: 'anthropic:s' }
    assert.ok(thinkingOf({ reasoning_effort: 'low', messages: [user('a'), signed, result] }))
    const answered = { role: 'assistant', content: 'b' }
    assert.ok(thinkingOf({ reasoning_effort: 'low', messages: [user('a'), assistant, result, answered, user('c')] }))
  })
})
