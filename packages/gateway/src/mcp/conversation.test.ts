import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Conversation, type Waiter } from './conversation.ts'
import { makeMessage, type RpcMessage } from './protocol.ts'
import type { JsonObject } from '@portico/http/json'
import type { TargetFailure } from './transport.ts'

const ask = (id: string | number, method = 'x', meta: JsonObject = {}): RpcMessage =>
  makeMessage({ jsonrpc: '2.0', id, method, params: { _meta: meta } })
const answer = (id: string | number): RpcMessage => makeMessage({ jsonrpc: '2.0', id, result: {} })
const note = (method: string, params: JsonObject = {}): RpcMessage => makeMessage({ jsonrpc: '2.0', method, params })

function record(): Waiter & { heard: string[] } {
  const heard: string[] = []
  return {
    heard,
    message: ({ method }) => void heard.push(method),
    response: ({ id }) => void heard.push(`response ${JSON.stringify(id)}`),
    closed: () => void heard.push('closed'),
    failed: ({ code }: TargetFailure) => void heard.push(code),
  }
}

describe('a conversation', () => {
  it('takes 1 and "1" for two ids, and one id for one request at a time', () => {
    const conversation = new Conversation()
    const [number, text] = [record(), record()]
    assert.ok(conversation.expect(ask(1), number))
    assert.ok(conversation.expect(ask('1'), text))
    assert.ok(!conversation.expect(ask(1), text))
    conversation.take(answer('1'))
    conversation.take(answer(1))
    conversation.take(answer(1))
    assert.deepEqual([number.heard, text.heard], [['response 1'], ['response "1"']])
    assert.ok(conversation.expect(ask(1), number))
  })

  it('gives subscriptions nothing but what names them', () => {
    const conversation = new Conversation()
    const [subscription, listener] = [record(), record()]
    conversation.expect(ask('sub', 'subscriptions/listen'), subscription)
    conversation.listen(listener)
    conversation.take(note('a', { _meta: { 'io.modelcontextprotocol/subscriptionId': 'sub' } }))
    conversation.take(note('b'))
    conversation.take(note('c', { _meta: { 'io.modelcontextprotocol/subscriptionId': 'gone' } }))
    assert.deepEqual([subscription.heard, listener.heard], [['a'], ['b']])
  })

  it('gives progress of a request that is over to whoever listens: tasks go on reporting', () => {
    const conversation = new Conversation()
    const [request, listener] = [record(), record()]
    conversation.listen(listener)
    conversation.expect(ask(1, 'tools/call', { progressToken: 't' }), request)
    conversation.take(note('notifications/progress', { progressToken: 't' }))
    conversation.take(answer(1))
    conversation.take(note('notifications/progress', { progressToken: 't' }))
    assert.deepEqual(request.heard, ['notifications/progress', 'response 1'])
    assert.deepEqual(listener.heard, ['notifications/progress'])
  })

  it('keeps the newest of what nobody hears, within bounds', () => {
    const conversation = new Conversation()
    for (let at = 0; at < 300; at++) conversation.take(note(`n${at}`))
    const few = record()
    conversation.listen(few)
    assert.deepEqual([few.heard.length, few.heard[0], few.heard.at(-1)], [256, 'n44', 'n299'])
    conversation.forget(few)
    for (let at = 0; at < 5; at++) conversation.take(note(`big${at}`, { text: 'x'.repeat(300_000) }))
    const big = record()
    conversation.listen(big)
    assert.deepEqual(big.heard, ['big2', 'big3', 'big4'])
  })

  it('that breaks fails requests and leaves listeners; one that is over closes them', () => {
    const conversation = new Conversation()
    const [request, listener] = [record(), record()]
    conversation.expect(ask(1), request)
    conversation.listen(listener)
    conversation.fail({ code: 'broken', message: '' })
    assert.ok(!conversation.hasRequests && !conversation.isQuiet)
    conversation.close({ code: 'broken', message: '' })
    assert.ok(conversation.isQuiet)
    assert.deepEqual([request.heard, listener.heard], [['broken'], ['closed']])
  })
})
