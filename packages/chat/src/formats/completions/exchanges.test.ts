import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { collectResponse } from '../../response/collect-response.ts'
import type { ChatEvent, Json, JsonObject } from '../../middle.ts'
import {
  decodeBuffered,
  decodeStream,
  encodeStream,
  everyCut,
  readExchange,
  request,
  responseContext,
  throughJson,
} from '../../testing/exchange.ts'
import { messages } from '../messages/index.ts'
import { completions } from './index.ts'
import { exchange } from './test-exchanges.ts'

const read = (name: string) => readExchange(import.meta.dirname, name)
const names = [
  'text',
  'parallel-tools',
  'usage-on-last-choice',
  'google-calls',
  'signed-reasoning',
  'refusal',
  'cut-with-citations',
  'stop-sequence',
  'custom-tool',
]

describe('recorded answers', () => {
  for (const name of names) {
    it(`are the same streamed and buffered, however cut: ${name}`, () => {
      const { body, stream } = read(name)
      const buffered = decodeBuffered(completions, body)
      for (const cuts of everyCut(stream.length)) {
        assert.deepEqual(collectResponse(decodeStream(completions, stream, cuts)), buffered)
      }
    })

    it(`reach a client of the same format as they were: ${name}`, () => {
      const { body, stream } = read(name)
      const custom = { name: 'sql', schema: {}, custom: {} }
      const rest = { stream_options: { include_usage: true } }
      const context = () => responseContext({ request: request({ tools: [custom], rest }) })
      const buffered = decodeBuffered(completions, body)
      const again = throughJson(completions.encodeResponse(completions.decodeResponse(body, context())!, context()))
      assert.deepEqual(comparable(decodeBuffered(completions, again)), comparable(buffered))
      const streamed = encodeStream(completions, decodeStream(completions, stream), context())
      assert.deepEqual(comparable(collectResponse(decodeStream(completions, streamed))), comparable(buffered))
    })

    it(`reach a client of Messages whole: ${name}`, () => {
      const { body, stream } = read(name)
      const context = responseContext()
      const events = completions.decodeResponse(body, context)!
      const buffered = decodeBuffered(messages, throughJson(messages.encodeResponse(events, context)))
      const streamed = collectResponse(
        decodeStream(messages, encodeStream(messages, decodeStream(completions, stream))),
      )
      assert.deepEqual(normalArguments(streamed), normalArguments(buffered))
    })
  }
})

/**
 * Removes facts that this format does not tell its clients: the stop sequence, the tier of a stream, missing counts.
 */
function comparable(folded: ReturnType<typeof collectResponse>): unknown {
  const { input, output, cacheRead = 0, cacheWrite, reasoning = 0 } = folded.usage ?? {}
  const reason = folded.finish?.reason === 'stopSequence' ? 'stop' : folded.finish?.reason
  const parts = folded.parts.map((part) =>
    part.type === 'toolCall' ? { ...part, id: part.id.replace(/__thought__.*/, ''), signature: undefined } : part,
  )
  return { ...folded, parts, finish: reason, usage: { input, output, cacheRead, cacheWrite, reasoning } }
}

/** Parses the arguments, because whole responses lose their whitespace. */
function normalArguments(folded: ReturnType<typeof collectResponse>): unknown {
  const parts = folded.parts.map((part) =>
    part.type === 'toolCall' ? { ...part, arguments: JSON.parse(part.arguments) as unknown } : part,
  )
  return { ...folded, parts }
}

describe('usage', () => {
  const usageOf = (name: string) => decodeBuffered(completions, read(name).body).usage

  it('counts what was read from the cache and what was thought apart', () => {
    assert.deepEqual(usageOf('parallel-tools'), {
      input: 1426,
      output: 187,
      cacheRead: 1280,
      reasoning: 128,
      inputAudio: 0,
      outputAudio: 0,
      serviceTier: 'default',
      providerInput: 1426,
      providerTotal: 1613,
    })
    assert.equal(usageOf('signed-reasoning')?.cacheWrite, 100)
  })

  it('counts thoughts that a server has only in its total', () => {
    assert.equal(usageOf('google-calls')?.output, 240)
  })

  it('is read wherever servers put it', () => {
    const usage = { prompt_tokens: 3, completion_tokens: 4 }
    const choice = { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop' }
    const bodies: JsonObject[] = [
      { choices: [choice], usage },
      { choices: [choice], x_groq: { id: 'x', usage } },
      { choices: [{ ...choice, usage }] },
    ]
    for (const body of bodies) {
      const { usage } = decodeBuffered(completions, body)
      assert.deepEqual([usage?.input, usage?.output], [3, 4])
    }
    assert.equal(decodeBuffered(completions, { choices: [choice], usage: null }).usage, null)
  })
})

describe('any answer', () => {
  it('is the same streamed and buffered, however cut', () => {
    fc.assert(
      fc.property(exchange, fc.array(fc.nat(), { maxLength: 8 }), ({ body, stream }, cuts) => {
        assert.deepEqual(collectResponse(decodeStream(completions, stream, cuts)), decodeBuffered(completions, body))
      }),
    )
  })

  it('is the same for clients of both formats, streamed and buffered', () => {
    fc.assert(
      fc.property(exchange, ({ body }) => {
        const events = completions.decodeResponse(body, responseContext())!
        for (const format of [completions, messages]) {
          const buffered = decodeBuffered(format, throughJson(format.encodeResponse(events, responseContext())))
          const streamed = collectResponse(decodeStream(format, encodeStream(format, events)))
          assert.deepEqual(normalArguments({ ...streamed, usage: null }), normalArguments({ ...buffered, usage: null }))
        }
      }),
    )
  })

  it('that is cut off ends with one error, and is never taken for finished', () => {
    fc.assert(
      fc.property(exchange, fc.nat(), ({ stream }, at) => {
        const finish = stream.indexOf(/"finish_reason":"/.exec(stream.toString('latin1'))![0], 0, 'latin1')
        const events = decodeStream(completions, stream.subarray(0, at % finish))
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
          const events = decodeStream(completions, damaged)
          assert.equal(events.filter(isEnd).length, 1)
          assert.ok(isEnd(events.at(-1)!))
          for (const format of [completions, messages]) encodeStream(format, events)
        },
      ),
    )
  })

  it('any JSON is decoded without an exception', () => {
    const member = fc.constantFrom(
      'choices',
      'delta',
      'message',
      'content',
      'tool_calls',
      'function',
      'index',
      'usage',
      'error',
    )
    const json = fc.letrec<{ value: Json }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(null, true, 0, 1, -1, 1e308, '', 'x', 'stop'),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(member, tie('value'), { maxKeys: 4 }),
      ),
    })).value
    fc.assert(
      fc.property(json, (value) => {
        const events = decodeStream(completions, `data: ${JSON.stringify(value)}\n\ndata: [DONE]\n\n`)
        assert.equal(events.filter(isEnd).length, 1)
        for (const body of [{ choices: [{ message: value }] }, { choices: value }]) {
          const buffered = completions.decodeResponse(body, responseContext())
          for (const format of [completions, messages]) format.encodeResponse(buffered ?? [], responseContext())
        }
      }),
    )
  })
})

function isEnd(event: ChatEvent): boolean {
  return event.type === 'finish' || event.type === 'error'
}
