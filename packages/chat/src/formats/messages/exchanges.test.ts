import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { CollectedResponse } from '../../response/collect-response.ts'
import { collectResponse } from '../../response/collect-response.ts'
import type { ChatEvent, Json } from '../../middle.ts'
import {
  decodeBuffered,
  decodeStream,
  encodeStream,
  everyCut,
  readExchange,
  responseContext,
  throughJson,
} from '../../testing/exchange.ts'
import { completions } from '../completions/index.ts'
import { messages } from './index.ts'
import { exchange } from './test-exchanges.ts'

const read = (name: string) => readExchange(import.meta.dirname, name)
const names = ['text', 'thinking-tools', 'server-tool', 'stop-sequence', 'refusal']

describe('recorded answers', () => {
  for (const name of names) {
    it(`are the same streamed and buffered, however cut: ${name}`, () => {
      const { body, stream } = read(name)
      const buffered = decodeBuffered(messages, body)
      for (const cuts of everyCut(stream.length)) {
        assert.deepEqual(normal(collectResponse(decodeStream(messages, stream, cuts))), normal(buffered))
      }
    })

    it(`reach a client of the same format as they were, block by block: ${name}`, () => {
      const { body, stream } = read(name)
      const again = throughJson(messages.encodeResponse(decodeStream(messages, stream), responseContext()))
      assert.deepEqual(again.content, body.content)
      assert.equal(again.stop_reason, body.stop_reason)
      assert.equal(again.stop_sequence, body.stop_sequence)
      const streamed = encodeStream(messages, decodeStream(messages, stream))
      const third = throughJson(messages.encodeResponse(decodeStream(messages, streamed), responseContext()))
      assert.deepEqual(third, again)
    })

    it(`reach a client of Completions whole: ${name}`, () => {
      const { body, stream } = read(name)
      const events = messages.decodeResponse(body, responseContext())!
      const buffered = decodeBuffered(completions, throughJson(completions.encodeResponse(events, responseContext())))
      const streamed = collectResponse(
        decodeStream(completions, encodeStream(completions, decodeStream(messages, stream))),
      )
      assert.deepEqual({ ...normal(streamed), usage: null }, { ...normal(buffered), usage: null })
    })
  }
})

describe('long ids', () => {
  it('stay as they are in a call that comes whole, or that the provider ran itself', () => {
    const input = '{"id":12345678901234567890}'
    const start = (type: string, begun: string) =>
      `data: {"type":"content_block_start","index":0,"content_block":{"type":"${type}","id":"t","name":"f","input":${begun}}}\n\n`
    const stop = 'data: {"type":"content_block_stop","index":0}\n\n'
    const delta = { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: input } }
    const piece = `data: ${JSON.stringify(delta)}\n\n`
    const [whole] = collectResponse(decodeStream(messages, Buffer.from(start('tool_use', input) + stop))).parts
    assert.equal(whole?.type === 'toolCall' && whole.arguments, input)
    const [native] = collectResponse(
      decodeStream(messages, Buffer.from(start('server_tool_use', '{}') + piece + stop)),
    ).parts
    assert.ok(JSON.stringify(native).includes(`"input":${input}`))
  })
})

/** Reformats the arguments, because whole responses lose their whitespace; native parts have no arguments. */
function normal(folded: CollectedResponse): CollectedResponse {
  const parts = folded.parts.map((part) =>
    part.type === 'toolCall' ? { ...part, arguments: JSON.stringify(JSON.parse(part.arguments)) } : part,
  )
  return { ...folded, parts }
}

describe('usage', () => {
  it('is everything that was read, with the parts of the cache apart', () => {
    assert.deepEqual(decodeBuffered(messages, read('thinking-tools').body).usage, {
      input: 2240,
      output: 301,
      cacheRead: 2048,
      cacheWrite: 180,
      serviceTier: 'standard',
      providerInput: 12,
      providerTotal: 313,
    })
  })

  it('takes the last count of a stream, except for zeros at the end', () => {
    const usageOf = (name: string) => collectResponse(decodeStream(messages, read(name).stream)).usage
    assert.equal(usageOf('server-tool')?.input, 10_682)
    assert.equal(usageOf('stop-sequence')?.input, 9)
    assert.equal(usageOf('refusal')?.reasoning, 24)
  })

  it('is known at the start of the stream already', () => {
    const events = decodeStream(messages, read('thinking-tools').stream)
    assert.equal(events[1]?.type === 'usage' && events[1].usage.input, 2240)
  })
})

describe('any answer', () => {
  it('is the same streamed and buffered, however cut', () => {
    fc.assert(
      fc.property(exchange, fc.array(fc.nat(), { maxLength: 8 }), ({ body, stream }, cuts) => {
        assert.deepEqual(collectResponse(decodeStream(messages, stream, cuts)), decodeBuffered(messages, body))
      }),
    )
  })

  it('reaches a client of the same format exactly as it was, streamed and buffered', () => {
    fc.assert(
      fc.property(exchange, ({ body }) => {
        const events = messages.decodeResponse(body, responseContext())!
        const again = throughJson(messages.encodeResponse(events, responseContext()))
        assert.deepEqual(again, throughJson(body))
        const streamed = decodeStream(messages, encodeStream(messages, events))
        assert.deepEqual(throughJson(messages.encodeResponse(streamed, responseContext())), again)
      }),
    )
  })

  it('is the same for clients of Completions, streamed and buffered', () => {
    fc.assert(
      fc.property(exchange, ({ body }) => {
        const events = messages.decodeResponse(body, responseContext())!
        const buffered = decodeBuffered(completions, throughJson(completions.encodeResponse(events, responseContext())))
        const streamed = collectResponse(decodeStream(completions, encodeStream(completions, events)))
        assert.deepEqual(summary(streamed), summary(buffered))
      }),
    )
  })

  it('that is cut off ends with one error, and is never taken for finished', () => {
    fc.assert(
      fc.property(exchange, fc.nat(), ({ stream }, at) => {
        const events = decodeStream(messages, stream.subarray(0, at % stream.indexOf('event: message_delta')))
        assert.equal(events.at(-1)?.type, 'error')
        assert.equal(events.filter(isEnd).length, 1)
      }),
    )
  })

  it('that is damaged still ends once, and nothing is thrown', () => {
    fc.assert(
      fc.property(
        exchange,
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1 }),
        ({ stream }, damage) => {
          const damaged = Buffer.from(stream)
          for (const [at, byte] of damage) damaged[at % damaged.length] = byte
          const events = decodeStream(messages, damaged)
          assert.equal(events.filter(isEnd).length, 1)
          assert.ok(isEnd(events.at(-1)!))
          for (const format of [completions, messages]) encodeStream(format, events)
        },
      ),
    )
  })

  it('is decoded without an exception, whatever its JSON', () => {
    const type = fc.constantFrom(
      'message_start',
      'content_block_start',
      'content_block_delta',
      'message_delta',
      'text',
      'tool_use',
    )
    const member = fc.constantFrom(
      'type',
      'message',
      'index',
      'content_block',
      'delta',
      'text',
      'input',
      'usage',
      'content',
    )
    const json = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(null, true, 0, 1, -1, 1e308, '', 'x'),
        type,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(member, tie('value'), { maxKeys: 5 }),
      ),
    })).value
    fc.assert(
      fc.property(type, json, json, (type, one, other) => {
        const record = `data: ${JSON.stringify({ type, message: one, content_block: one, delta: other, usage: other })}\n\n`
        const events = decodeStream(messages, record + record)
        assert.equal(events.filter(isEnd).length, 1)
        const buffered = messages.decodeResponse({ content: [one, other], usage: one }, responseContext())!
        for (const format of [completions, messages]) format.encodeResponse(buffered, responseContext())
      }),
    )
  })
})

/**
 * Reduces a response to the parts that Completions can express: one text, one list of calls, and reasoning with its
 * signatures.
 */
function summary({ id, model, finish, parts }: CollectedResponse): unknown {
  const joined = (type: 'text' | 'reasoning') =>
    parts.flatMap((part) => (part.type === type ? [part.text] : [])).join('')
  const sealed = parts.flatMap((part) => (part.type === 'reasoning' ? [part.signature ?? part.opaque] : []))
  const calls = parts.filter((part) => part.type === 'toolCall')
  return { id, model, finish, text: joined('text'), reasoning: joined('reasoning'), sealed, calls }
}

function isEnd(event: ChatEvent): boolean {
  return event.type === 'finish' || event.type === 'error'
}
