import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { textAt } from '@portico/http/json'
import type { Json, JsonObject } from '../../middle.ts'
import { UnsupportedField } from '../../middle.ts'
import { decodeBuffered, decoded, encoded, responseContext } from '../../testing/exchange.ts'
import { messages } from '../messages/index.ts'
import { completions } from './index.ts'

/** Translates the request of a Messages client for a Completions provider. */
function translate(changes: JsonObject, ...quirks: string[]) {
  const body = { model: 'gpt', max_tokens: 100, messages: [user('hi')], ...changes }
  return encoded(completions, decoded(messages, body), quirks)
}

function fieldRefused(part: JsonObject): string {
  const request = decoded(messages, { model: 'gpt', max_tokens: 100, messages: [user([part])] })
  const result = completions.encodeRequest(request, { model: 'm', quirks: new Set(), toolNames: new Map() }, [])
  return result instanceof UnsupportedField ? result.field : 'accepted'
}

const user = (content: Json): JsonObject => ({ role: 'user', content })
const text = (text: string): JsonObject => ({ type: 'text', text })
const tool = (changes: JsonObject): JsonObject => ({ name: 'f', input_schema: { type: 'object' }, ...changes })
const png = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }
const pngUrl = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }

describe('a conversation', () => {
  it('begins with its instructions, a text or parts', () => {
    assert.deepEqual(translate({ system: 's' }).body.messages, [{ role: 'system', content: 's' }, user('hi')])
    assert.deepEqual(translate({ system: [text('a'), text('b')] }).body.messages, [
      { role: 'system', content: [text('a'), text('b')] },
      user('hi'),
    ])
    const inside = translate({ messages: [user('a'), { role: 'system', content: 'b' }] })
    assert.deepEqual(inside.body.messages, [user('a'), { role: 'system', content: 'b' }])
  })

  it('shows images and documents', () => {
    const { body, losses } = translate({
      messages: [
        user([
          text('look'),
          png,
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' } },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'plain' }, title: 'notes' },
        ]),
      ],
    })
    assert.deepEqual(body.messages, [
      user([
        text('look'),
        pngUrl,
        { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
        text('notes:\nplain'),
      ]),
    ])
    assert.deepEqual(losses, ['renamed messages[].content[].source'])
  })

  it('has results as messages of their own, before what stands beside them; images follow', () => {
    const { body, losses } = translate({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'hm', signature: 's' },
            text('ok'),
            { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } },
            { type: 'tool_use', id: 'toolu_2', name: 'f', input: {} },
          ],
        },
        user([
          text('and'),
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [text('x'), png], is_error: true },
          { type: 'tool_result', tool_use_id: 'toolu_2' },
        ]),
      ],
    })
    assert.deepEqual(body.messages, [
      {
        role: 'assistant',
        content: 'ok',
        tool_calls: [
          { id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } },
          { id: 'toolu_2', type: 'function', function: { name: 'f', arguments: '{}' } },
        ],
      },
      { role: 'tool', tool_call_id: 'toolu_1', content: 'x' },
      { role: 'tool', tool_call_id: 'toolu_2', content: '' },
      user([text('From the result of the tool call toolu_1:'), pngUrl, text('and')]),
    ])
    assert.deepEqual(losses, [
      'dropped messages[].content[].thinking',
      'renamed messages[].content[].content[]',
      'dropped messages[].content[].is_error',
    ])
  })

  it('gives reasoning back where the server wants it', () => {
    const thinking = { type: 'thinking', thinking: 'hm', signature: '' }
    const { body, losses } = translate(
      { messages: [{ role: 'assistant', content: [thinking, text('ok')] }] },
      'reasoningContent',
    )
    assert.deepEqual(body.messages, [{ role: 'assistant', content: 'ok', reasoning_content: 'hm' }])
    assert.deepEqual(losses, [])
  })

  it('loses marks for the cache, unless the server has them, and says so', () => {
    const cached = { ...text('a'), cache_control: { type: 'ephemeral' } }
    const conversation = { messages: [user([cached, text('b')])] }
    assert.deepEqual(translate(conversation).body.messages, [user([text('a'), text('b')])])
    assert.deepEqual(translate(conversation).losses, ['dropped cache_control'])
    assert.deepEqual(translate(conversation, 'cacheControl').body.messages, [user([cached, text('b')])])
    assert.deepEqual(translate(conversation, 'cacheBreakpoints').body.messages, [
      user([{ ...text('a'), prompt_cache_breakpoint: { mode: 'explicit' } }, text('b')]),
    ])
  })

  it('loses what only the other vendor can say, and says so', () => {
    const { body, losses } = translate({
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'server_tool_use', id: 's', name: 'web_search', input: {} },
            { ...text('found'), citations: [{ cited_text: 'x' }] },
          ],
        },
      ],
      tools: [{ type: 'web_search_20250305', name: 'web_search' }],
    })
    assert.deepEqual(body.messages, [{ role: 'assistant', content: 'found' }])
    assert.equal(body.tools, undefined)
    assert.deepEqual(losses, [
      'dropped tools',
      'dropped messages[].content[]',
      'dropped messages[].content[].citations',
    ])
  })

  it('with what the provider cannot read is refused by name', () => {
    for (const type of ['image', 'document']) {
      assert.equal(
        fieldRefused({ type, source: { type: 'file', file_id: 'f' } }),
        'messages[].content[].source.file_id',
      )
    }
    assert.equal(
      fieldRefused({ type: 'document', source: { type: 'url', url: 'https://x' } }),
      'messages[].content[].source',
    )
  })

  it('keeps ids and names of calls, and shortens what is too long the same way each time', () => {
    const id = `toolu_${'x'.repeat(60)}`
    const name = `mcp__${'server'.repeat(12)}__do.it`
    const { body, target } = translate({
      tools: [tool({ name })],
      tool_choice: { type: 'tool', name },
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id, name, input: {} }] },
        user([{ type: 'tool_result', tool_use_id: id, content: 'x' }]),
      ],
    })
    const [call, result] = body.messages as JsonObject[]
    const [called] = call!.tool_calls as JsonObject[]
    assert.equal(called!.id, result!.tool_call_id)
    assert.match(textAt(called!, 'id')!, /^[\w-]{40}$/)
    const theirs = [...target.toolNames.keys()][0]!
    assert.match(theirs, /^[\w-]{1,64}$/)
    assert.equal(target.toolNames.get(theirs), name)
    assert.deepEqual(body.tool_choice, { type: 'function', function: { name: theirs } })
    const answered = { tool_calls: [{ id: 'c', type: 'function', function: { name: theirs, arguments: '{}' } }] }
    const { parts } = decodeBuffered(
      completions,
      { choices: [{ message: answered, finish_reason: 'tool_calls' }] },
      responseContext({ toolNames: target.toolNames }),
    )
    assert.equal(parts[0]?.type === 'toolCall' && parts[0].name, name)
  })
})

describe('options', () => {
  it('are carried where both know them, and reported where not', () => {
    const { body, losses } = translate(
      {
        temperature: 0.5,
        top_p: 0.9,
        top_k: 5,
        stop_sequences: ['a'],
        metadata: { user_id: 'u' },
        stream: true,
        service_tier: 'auto',
      },
      'completionTokens',
    )
    const { model: _model, messages: _messages, ...options } = body
    assert.deepEqual(options, {
      temperature: 0.5,
      top_p: 0.9,
      stop: ['a'],
      max_completion_tokens: 100,
      user: 'u',
      stream: true,
      stream_options: { include_usage: true },
    })
    assert.deepEqual(losses, ['dropped service_tier', 'dropped top_k'])
    assert.equal(translate({ top_k: 5 }, 'topK').body.top_k, 5)
  })

  it('hash a user that is too long', () => {
    const { body, losses } = translate({ metadata: { user_id: 'u'.repeat(65) } })
    assert.match(textAt(body, 'user')!, /^[0-9a-f]{64}$/)
    assert.deepEqual(losses, ['renamed metadata.user_id'])
  })

  it('tool choices are translated', () => {
    const choiceOf = (choice: JsonObject) => {
      const { tool_choice, parallel_tool_calls } = translate({ tools: [tool({})], tool_choice: choice }).body
      return [tool_choice, parallel_tool_calls]
    }
    assert.deepEqual(choiceOf({ type: 'auto' }), ['auto', undefined])
    assert.deepEqual(choiceOf({ type: 'any', disable_parallel_tool_use: true }), ['required', false])
    assert.deepEqual(choiceOf({ type: 'none' }), ['none', undefined])
    assert.deepEqual(choiceOf({ type: 'tool', name: 'f' }), [{ type: 'function', function: { name: 'f' } }, undefined])
    assert.deepEqual(translate({ tools: [tool({ description: 'd', strict: true })] }).body.tools, [
      { type: 'function', function: { name: 'f', description: 'd', parameters: { type: 'object' }, strict: true } },
    ])
    const refused = translate(
      { tools: [tool({ strict: true })], tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      'noStrict',
      'noParallelTools',
    )
    assert.deepEqual(refused.losses, ['dropped tool_choice.disable_parallel_tool_use', 'dropped tools[].strict'])
  })

  it('thinking becomes a reasoning effort', () => {
    const effortOf = (changes: JsonObject) => translate(changes).body.reasoning_effort
    assert.equal(effortOf({}), undefined)
    assert.equal(effortOf({ thinking: { type: 'disabled' } }), 'none')
    assert.equal(effortOf({ thinking: { type: 'enabled', budget_tokens: 1024 } }), 'low')
    assert.equal(effortOf({ thinking: { type: 'enabled', budget_tokens: 31_999 } }), 'high')
    assert.equal(effortOf({ thinking: { type: 'adaptive' } }), 'high')
    assert.equal(effortOf({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }), 'low')
    const { body, losses } = translate({ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } })
    assert.equal(body.reasoning_effort, 'high')
    assert.deepEqual(losses, ['renamed thinking'])
  })

  it('structured output becomes a response format with the schema', () => {
    const schema = { type: 'object', properties: {}, additionalProperties: false }
    assert.deepEqual(translate({ output_config: { format: { type: 'json_schema', schema } } }).body.response_format, {
      type: 'json_schema',
      json_schema: { name: 'structured_output', schema },
    })
  })
})
