import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { collectResponse } from './collect-response.ts'
import type { ChatEvent } from '../middle.ts'

describe('a collected response', () => {
  it('puts parts together, also when several are open at once', () => {
    const events: ChatEvent[] = [
      { type: 'start', id: 'r1', model: 'm', created: 5 },
      { type: 'partStart', index: 0, part: { type: 'toolCall', id: 'a', name: 'f' } },
      { type: 'partStart', index: 1, part: { type: 'toolCall', id: 'b', name: 'g', signature: 'google:x' } },
      { type: 'partDelta', index: 1, text: '{"b"' },
      { type: 'partDelta', index: 0, text: '{"a":1}' },
      { type: 'partDelta', index: 1, text: ':2}' },
      { type: 'partEnd', index: 0 },
      { type: 'partEnd', index: 1 },
      { type: 'finish', reason: 'toolCalls' },
    ]
    assert.deepEqual(collectResponse(events), {
      id: 'r1',
      model: 'm',
      created: 5,
      parts: [
        { type: 'toolCall', id: 'a', name: 'f', arguments: '{"a":1}' },
        { type: 'toolCall', id: 'b', name: 'g', arguments: '{"b":2}', signature: 'google:x' },
      ],
      usage: null,
      finish: { reason: 'toolCalls' },
      error: null,
    })
  })

  it('takes what is known only at the end of a part', () => {
    const { parts } = collectResponse([
      { type: 'partStart', index: 0, part: { type: 'reasoning', id: 'rs_1' } },
      { type: 'partDelta', index: 0, text: 'hm' },
      { type: 'partEnd', index: 0, signature: 'anthropic:s', opaque: 'openai:o' },
      { type: 'partStart', index: 1, part: { type: 'text' } },
      { type: 'partDelta', index: 1, text: 'ok' },
      { type: 'partEnd', index: 1, rest: { citations: [1] } },
      { type: 'partStart', index: 2, part: { type: 'native', format: 'messages', value: { a: 1 } } },
      { type: 'partEnd', index: 2 },
    ])
    assert.deepEqual(parts, [
      { type: 'reasoning', id: 'rs_1', text: 'hm', signature: 'anthropic:s', opaque: 'openai:o' },
      { type: 'text', text: 'ok', rest: { citations: [1] } },
      { type: 'native', format: 'messages', value: { a: 1 } },
    ])
  })

  it('takes the last word on every number of usage', () => {
    const { usage } = collectResponse([
      { type: 'usage', usage: { input: 10, output: 1, cacheRead: 4 } },
      { type: 'usage', usage: { output: 7 } },
    ])
    assert.deepEqual(usage, { input: 10, output: 7, cacheRead: 4 })
  })

  it('keeps the error of a broken response, without a finish', () => {
    const error = { status: 502, kind: 'api', message: 'gone' } as const
    const folded = collectResponse([
      { type: 'start', id: 'r1', model: 'm' },
      { type: 'error', error },
    ])
    assert.deepEqual(folded.error, error)
    assert.equal(folded.finish, null)
  })

  it('passes over pieces of parts that never began', () => {
    assert.deepEqual(
      collectResponse([
        { type: 'partDelta', index: 3, text: 'x' },
        { type: 'partEnd', index: 3 },
      ]).parts,
      [],
    )
  })
})
