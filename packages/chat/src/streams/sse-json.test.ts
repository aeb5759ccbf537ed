import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { textAt } from '@portico/http/json'
import type { ChatEvent, JsonObject } from '../middle.ts'
import { SseJsonDecoder } from './sse-json.ts'

/** Every record is a delta; `last` finishes. */
const reader = {
  record: (body: JsonObject): ChatEvent[] =>
    body.last === true
      ? [{ type: 'finish', reason: 'stop' }]
      : [{ type: 'partDelta', index: 0, text: textAt(body, 'text') ?? '' }],
  done: (): ChatEvent[] => [{ type: 'finish', reason: 'length' }],
  end: (): ChatEvent[] => [],
}

function decode(...chunks: string[]): ChatEvent[] {
  const decoder = new SseJsonDecoder(reader)
  return [...chunks.flatMap((chunk) => decoder.push(Buffer.from(chunk))), ...decoder.end()]
}

const delta: ChatEvent = { type: 'partDelta', index: 0, text: 'a' }

describe('records of JSON', () => {
  it('reach the reader', () => {
    assert.deepEqual(decode('data: {"text"', ':"a"}\n\ndata: [DONE]\n\n'), [
      delta,
      { type: 'finish', reason: 'length' },
    ])
  })

  it('are over with the finish', () => {
    const events = decode('data: {"last":true}\n\ndata: {"text":"late"}\n\ndata: broken\n\n')
    assert.deepEqual(events, [{ type: 'finish', reason: 'stop' }])
  })

  it('that cannot be read are one error, and the end of everything', () => {
    for (const broken of ['{"text":', '[1]', '"a"', 'null', '<html>', '['.repeat(100_000)]) {
      const events = decode(`data: {"text":"a"}\n\ndata: ${broken}\n\ndata: {"text":"a"}\n\n`)
      assert.deepEqual(events[0], delta)
      assert.equal(events.length, 2)
      assert.equal(events[1]?.type === 'error' && events[1].error.status, 502)
    }
  })

  it('that stop early are an error', () => {
    const events = decode('data: {"text":"a"}\n\n')
    assert.deepEqual(
      events.map(({ type }) => type),
      ['partDelta', 'error'],
    )
  })

  it('without data are passed over', () => {
    assert.deepEqual(decode('data: \n\n: ping\n\ndata: {"last":true}\n\n'), [{ type: 'finish', reason: 'stop' }])
  })
})
