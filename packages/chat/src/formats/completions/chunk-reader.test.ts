import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { collectResponse } from '../../response/collect-response.ts'
import type { JsonObject } from '../../middle.ts'
import { decodeBuffered, decodeStream } from '../../testing/exchange.ts'
import { completions } from './index.ts'

/** Reads deltas as sent by servers that deviate from the format. */
function read(deltas: JsonObject[], finish: JsonObject = { finish_reason: 'stop' }) {
  const choices: JsonObject[] = [...deltas.map((delta) => ({ index: 0, delta })), { index: 0, delta: {}, ...finish }]
  const chunks = choices.map((choice) => `data: ${JSON.stringify({ id: 'r1', model: 'm', choices: [choice] })}\n\n`)
  return collectResponse(decodeStream(completions, `${chunks.join('')}data: [DONE]\n\n`))
}

const calls = (...calls: JsonObject[]): JsonObject => ({ tool_calls: calls })
const call = (id: string, args: string) => ({ type: 'toolCall', id, name: 'f', arguments: args })

describe('tool calls', () => {
  it('without an index are told apart by their ids', () => {
    const whole = (id: string) => calls({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
    assert.deepEqual(read([whole('a'), whole('b')]).parts, [call('a', '{}'), call('b', '{}')])
  })

  it('with the same index are told apart by their ids', () => {
    const whole = (id: string) => calls({ index: 0, id, function: { name: 'f', arguments: '{}' } })
    assert.deepEqual(read([whole('a'), whole('b'), whole('c')]).parts, [
      call('a', '{}'),
      call('b', '{}'),
      call('c', '{}'),
    ])
  })

  it('may repeat id and name with every piece', () => {
    const piece = (text: string) => calls({ index: 0, id: 'a', function: { name: 'f', arguments: text } })
    assert.deepEqual(read([piece('{"x"'), piece(':1}')]).parts, [call('a', '{"x":1}')])
  })

  it('may be mixed, and come with the name late, or without an index later', () => {
    const { parts } = read([
      calls({ index: 0, id: 'a' }, { index: 1, id: 'b', function: { arguments: '{"y"' } }),
      calls({ index: 1, function: { name: 'f' } }),
      calls({ index: 0, function: { name: 'f', arguments: '{"x"' } }),
      calls({ index: 1, function: { arguments: ':2' } }),
      calls({ function: { arguments: '}' } }),
      calls({ index: 0, function: { arguments: ':1}' } }),
    ])
    assert.deepEqual(parts, [call('b', '{"y":2}'), call('a', '{"x":1}')])
  })

  it('without an id get one, and without arguments an empty object', () => {
    assert.deepEqual(read([calls({ index: 0, function: { name: 'f' } })]).parts, [call('call_1', '{}')])
  })

  it('with arguments as an object are taken too', () => {
    assert.deepEqual(read([calls({ index: 0, id: 'a', function: { name: 'f', arguments: { x: 1 } } })]).parts, [
      call('a', '{"x":1}'),
    ])
  })

  it('legacy function calls become tool calls', () => {
    const { parts, finish } = read(
      [{ function_call: { name: 'f', arguments: '' } }, { function_call: { arguments: '{}' } }],
      {
        finish_reason: 'function_call',
      },
    )
    assert.deepEqual(parts, [call('call_1', '{}')])
    assert.deepEqual(finish, { reason: 'toolCalls' })
  })

  it('finish with `toolCalls`, also when the server says stop', () => {
    assert.deepEqual(read([calls({ index: 0, id: 'a', function: { name: 'f' } })]).finish, { reason: 'toolCalls' })
    assert.deepEqual(
      read([calls({ index: 0, id: 'a', function: { name: 'f' } })], { finish_reason: 'length' }).finish,
      {
        reason: 'length',
      },
    )
  })
})

describe('answers', () => {
  it('only the first of several choices is read', () => {
    const choice = (index: number, content: string) => ({ index, message: { content }, finish_reason: 'stop' })
    assert.deepEqual(decodeBuffered(completions, { choices: [choice(0, 'a'), choice(1, 'b')] }).parts, [
      { type: 'text', text: 'a' },
    ])
    const chunk = (index: number, content: string) =>
      `data: ${JSON.stringify({ choices: [{ index, delta: { content } }] })}\n\n`
    const stream = `${chunk(0, 'a')}${chunk(1, 'b')}${chunk(0, 'c')}data: [DONE]\n\n`
    assert.deepEqual(collectResponse(decodeStream(completions, stream)).parts, [{ type: 'text', text: 'ac' }])
  })

  it('in lists of content are text and reasoning', () => {
    const { parts } = read([
      { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }] },
      { content: [{ type: 'text', text: 'a' }] },
      { content: 'b' },
    ])
    assert.deepEqual(parts, [
      { type: 'reasoning', text: 'hm' },
      { type: 'text', text: 'ab' },
    ])
  })

  it('that are done without a reason have finished; those that only stop have not', () => {
    const chunk = 'data: {"id":"r1","choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
    assert.deepEqual(collectResponse(decodeStream(completions, `${chunk}data: [DONE]\n\n`)).finish, { reason: 'stop' })
    assert.equal(collectResponse(decodeStream(completions, chunk)).error?.status, 502)
    assert.equal(collectResponse(decodeStream(completions, 'data: [DONE]\n\n')).error?.status, 502)
    assert.equal(collectResponse(decodeStream(completions, '')).error?.status, 502)
  })

  it('without id and model get them', () => {
    const { id, model } = decodeBuffered(completions, { choices: [{ message: {}, finish_reason: 'stop' }] })
    assert.deepEqual([id, model], ['chatcmpl-1', 'asked-for'])
  })

  it('end for all reasons that servers give', () => {
    const reasonOf = (finish_reason: string) => read([{ content: 'x' }], { finish_reason }).finish?.reason
    assert.deepEqual(['stop', 'length', 'content_filter', 'model_length', 'eos', 'invented'].map(reasonOf), [
      'stop',
      'length',
      'filtered',
      'contextWindow',
      'stop',
      'stop',
    ])
  })
})
