import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { collectResponse } from '../../response/collect-response.ts'
import { countAt, objectAt, textAt } from '@portico/http/json'
import type { ChatEvent, JsonObject } from '../../middle.ts'
import { decodeStream, encodeStream } from '../../testing/exchange.ts'
import { messages } from './index.ts'

const start: ChatEvent = { type: 'start', id: 'r1', model: 'm' }
const finish: ChatEvent = { type: 'finish', reason: 'stop' }
const call = (index: number, id: string): ChatEvent => ({
  type: 'partStart',
  index,
  part: { type: 'toolCall', id, name: 'f' },
})
const delta = (index: number, text: string): ChatEvent => ({ type: 'partDelta', index, text })
const end = (index: number): ChatEvent => ({ type: 'partEnd', index })

/** The records of a stream; asserts that the event name and the type in the body agree. */
function records(events: ChatEvent[]): JsonObject[] {
  const texts = encodeStream(messages, events).split('\n\n').slice(0, -1)
  return texts.map((text) => {
    const [, name, data] = /^event: (.*)\ndata: (.*)$/.exec(text)!
    const body = JSON.parse(data!) as JsonObject
    assert.equal(body.type, name)
    return body
  })
}

/** The block events in short: `start 0`, `delta 0`, `stop 0`. */
function blocks(events: ChatEvent[]): string[] {
  return records(events).flatMap((record) => {
    const [, word] = /^content_block_(.*)$/.exec(textAt(record, 'type') ?? '') ?? []
    return word === undefined ? [] : [`${word} ${countAt(record, 'index')}`]
  })
}

describe('a stream for clients of Messages', () => {
  it('begins with what is known of usage, and ends with all of it', () => {
    const [first, last, stop] = records([
      start,
      { type: 'usage', usage: { input: 10, output: 1, cacheRead: 4, cacheWrite: 3 } },
      finish,
      { type: 'usage', usage: { output: 7 } },
    ])
    const input = { input_tokens: 3, cache_creation_input_tokens: 3, cache_read_input_tokens: 4 }
    assert.deepEqual(objectAt(first!, 'message').usage, { ...input, output_tokens: 1 })
    assert.deepEqual(last, {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { ...input, output_tokens: 7 },
    })
    assert.deepEqual(stop, { type: 'message_stop' })
  })

  it('has one block after the other, also when parts are mixed', () => {
    const mixed = [
      start,
      call(0, 'a'),
      delta(0, '{'),
      call(1, 'b'),
      delta(1, '{}'),
      delta(0, '}'),
      end(1),
      end(0),
      finish,
    ]
    assert.deepEqual(blocks(mixed), ['start 0', 'delta 0', 'delta 0', 'stop 0', 'start 1', 'delta 1', 'stop 1'])
  })

  it('closes what nobody closed', () => {
    assert.deepEqual(blocks([start, call(0, 'a'), call(1, 'b'), call(2, 'c'), end(1), finish]), [
      'start 0',
      'stop 0',
      'start 1',
      'stop 1',
      'start 2',
      'stop 2',
    ])
  })

  it('stays quick when very many parts are open', () => {
    const indexes = Array.from({ length: 20_000 }, (_, index) => index)
    const events = [start, ...indexes.map((index) => call(index, `c${index}`)), ...indexes.map(end), finish]
    assert.equal(blocks(events).length, 40_000)
  })

  it('interleaved parts are collected to the same parts', () => {
    const step = fc.record({ part: fc.nat({ max: 3 }), text: fc.string({ minLength: 1 }) })
    fc.assert(
      fc.property(fc.array(step), fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), (steps, ends) => {
        const opened = [0, 1, 2, 3].map((index) => call(index, `c${index}`))
        const pieces = steps.map(({ part, text }) => delta(part, text))
        const events = [start, ...opened, ...pieces, ...ends.map(end), finish]
        const seen = collectResponse(decodeStream(messages, encodeStream(messages, events))).parts
        const expected = collectResponse(events).parts.map((part) =>
          part.type === 'toolCall' && part.arguments === '' ? { ...part, arguments: '{}' } : part,
        )
        assert.deepEqual(seen, expected)
      }),
    )
  })

  it('tells reasoning of others without their seal in the open', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'partStart', index: 0, part: { type: 'reasoning', id: 'rs_1' } },
      delta(0, 'hm'),
      { type: 'partEnd', index: 0, opaque: 'openai:enc' },
      finish,
    ]
    assert.deepEqual(collectResponse(decodeStream(messages, encodeStream(messages, events))).parts, [
      { type: 'reasoning', text: 'hm' },
      { type: 'reasoning', text: '', opaque: 'anthropic:openai:enc#rs_1' },
    ])
    const request = messages.decodeRequest({
      model: 'm',
      messages: [{ role: 'assistant', content: [{ type: 'redacted_thinking', data: 'openai:enc' }] }],
    })
    assert.deepEqual('messages' in request && request.messages[0]?.parts, [
      { type: 'reasoning', text: '', opaque: 'openai:enc' },
    ])
  })

  it('that breaks ends with an error event and nothing behind it', () => {
    const error: ChatEvent = { type: 'error', error: { status: 429, kind: 'rateLimit', message: 'slow down' } }
    assert.deepEqual(records([start, call(0, 'a'), error, finish]).at(-1), {
      type: 'error',
      error: { type: 'rate_limit_error', message: 'slow down' },
    })
    assert.deepEqual(records([start]).at(-1), {
      type: 'error',
      error: { type: 'api_error', message: 'the answer ended too early' },
    })
  })

  it('says refusals as text, and as the reason', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'partStart', index: 0, part: { type: 'refusal' } },
      delta(0, 'no'),
      end(0),
      finish,
    ]
    const folded = collectResponse(decodeStream(messages, encodeStream(messages, events)))
    assert.deepEqual(folded.parts, [{ type: 'text', text: 'no' }])
    assert.deepEqual(folded.finish, { reason: 'filtered' })
  })
})
