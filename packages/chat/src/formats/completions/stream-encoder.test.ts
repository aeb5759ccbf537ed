import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { objectsAt } from '@portico/http/json'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { encodeStream, request, responseContext } from '../../testing/exchange.ts'
import { completions } from './index.ts'

const start: ChatEvent = { type: 'start', id: 'r1', model: 'm', created: 5 }
const usage: ChatEvent = { type: 'usage', usage: { input: 10, output: 5, cacheRead: 4, cacheWrite: 2, reasoning: 1 } }
const finish: ChatEvent = { type: 'finish', reason: 'stop' }
const wantsUsage = () => responseContext({ request: request({ rest: { stream_options: { include_usage: true } } }) })

/** The records of a stream, without `[DONE]`. */
function records(stream: string): JsonObject[] {
  const texts = stream.split('\n\n').filter((record) => record !== '' && record !== 'data: [DONE]')
  return texts.map((record) => JSON.parse(record.replace(/^data: /, '')) as JsonObject)
}

function deltas(events: ChatEvent[], context = responseContext()): unknown[] {
  return records(encodeStream(completions, events, context)).map((record) => objectsAt(record, 'choices')[0]?.delta)
}

describe('a stream for clients of Completions', () => {
  it('is chunks of one answer, ended by [DONE]', () => {
    const stream = encodeStream(completions, [
      start,
      { type: 'partStart', index: 0, part: { type: 'text' } },
      { type: 'partDelta', index: 0, text: 'hi' },
      { type: 'partEnd', index: 0 },
      usage,
      finish,
    ])
    const head = { id: 'r1', object: 'chat.completion.chunk', created: 5, model: 'm' }
    const chunk = (delta: JsonObject, finish_reason: string | null = null) => ({
      ...head,
      choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    })
    assert.deepEqual(records(stream), [
      chunk({ role: 'assistant', content: '' }),
      chunk({ content: 'hi' }),
      chunk({}, 'stop'),
    ])
    assert.ok(stream.endsWith('\n\ndata: [DONE]\n\n'))
  })

  it('tells usage to whom asked for it, in the last chunk, wherever it came', () => {
    for (const events of [
      [start, usage, finish],
      [start, finish, usage],
    ]) {
      const chunks = records(encodeStream(completions, events, wantsUsage()))
      assert.deepEqual(
        chunks.map((chunk) => chunk.usage),
        [
          null,
          null,
          {
            prompt_tokens: 10,
            completion_tokens: 5,
            total_tokens: 15,
            prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 2, audio_tokens: 0 },
            completion_tokens_details: { reasoning_tokens: 1, audio_tokens: 0 },
          },
        ],
      )
      assert.deepEqual(chunks.at(-1)?.choices, [])
    }
  })

  it('numbers calls by themselves, also when they are mixed', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'partStart', index: 0, part: { type: 'text' } },
      { type: 'partEnd', index: 0 },
      { type: 'partStart', index: 1, part: { type: 'toolCall', id: 'a', name: 'f' } },
      { type: 'partStart', index: 2, part: { type: 'toolCall', id: 'b', name: 'g' } },
      { type: 'partDelta', index: 2, text: '{"x"' },
      { type: 'partEnd', index: 1 },
      { type: 'partDelta', index: 2, text: ':1}' },
      { type: 'partEnd', index: 2 },
      { type: 'finish', reason: 'toolCalls' },
    ]
    assert.deepEqual(deltas(events).slice(1, -1), [
      { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '' } }] },
      { tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'g', arguments: '' } }] },
      { tool_calls: [{ index: 1, function: { arguments: '{"x"' } }] },
      { tool_calls: [{ index: 0, function: { arguments: '{}' } }] },
      { tool_calls: [{ index: 1, function: { arguments: ':1}' } }] },
    ])
  })

  it('gives free text to tools that were declared so', () => {
    const context = responseContext({ request: request({ tools: [{ name: 'sql', schema: {}, custom: {} }] }) })
    const events: ChatEvent[] = [
      start,
      { type: 'partStart', index: 0, part: { type: 'toolCall', id: 'a', name: 'sql' } },
      { type: 'partDelta', index: 0, text: '{"input":"SEL' },
      { type: 'partDelta', index: 0, text: 'ECT \\"1\\""}' },
      { type: 'partEnd', index: 0 },
      finish,
    ]
    assert.deepEqual(deltas(events, context).slice(1, -1), [
      { tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'sql', input: '' } }] },
      { tool_calls: [{ index: 0, custom: { input: 'SELECT "1"' } }] },
    ])
  })

  it('tells reasoning, with what its maker wants back', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'partStart', index: 0, part: { type: 'reasoning' } },
      { type: 'partDelta', index: 0, text: 'hm' },
      { type: 'partEnd', index: 0, signature: 'anthropic:s' },
      { type: 'partStart', index: 1, part: { type: 'reasoning', opaque: 'anthropic:o' } },
      { type: 'partEnd', index: 1 },
      finish,
    ]
    assert.deepEqual(deltas(events).slice(1, -1), [
      { reasoning_content: 'hm' },
      {
        reasoning_signature: 'anthropic:s',
        reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: 'anthropic:s', index: 0 }],
      },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: 'anthropic:o', index: 1 }] },
    ])
  })

  it('that breaks ends with an error, and without [DONE]', () => {
    const error: ChatEvent = {
      type: 'error',
      error: { status: 529, kind: 'overloaded', message: 'busy', code: 'overloaded_error' },
    }
    const stream = encodeStream(completions, [start, error, finish])
    assert.deepEqual(records(stream).at(-1), {
      error: { message: 'busy', type: 'overloaded_error', param: null, code: 'overloaded_error' },
    })
    assert.ok(!stream.includes('[DONE]'))
    assert.match(encodeStream(completions, [start]), /"error":\{"message":"the answer ended too early"/)
  })
})
