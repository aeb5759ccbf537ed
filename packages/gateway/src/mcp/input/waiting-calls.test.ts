import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Deadlines } from '@portico/http'
import { parseLogFilter } from '../../telemetry/log/log-filter.ts'
import { createLogger } from '../../telemetry/log/logger.ts'
import { startHub } from '../../testing/hub.ts'
import type { Json } from '@portico/http/json'
import { BadMessage, makeMessage, readMessage, type RpcMessage } from '../protocol.ts'
import { createSealer } from '../session/seal.ts'
import { answersIn, canAnswer, carriedAbilities, digestOf } from '../questions.ts'
import { type Attendee, ANSWER_MS, type Question } from './waiting-call.ts'
import { WaitingCalls } from './waiting-calls.ts'

function setUp(max: number) {
  const filter = parseLogFilter('off')
  assert.ok(filter.ok)
  const log = createLogger({ filter: filter.value, format: 'text', write() {} }).child('mcp')
  const deadlines = new Deadlines()
  const sealer = createSealer([randomBytes(32)])
  const clock = { now: 1_000 }
  const hub = startHub(log).workers[0]!
  const options = { hub, sealer, deadlines, clock: () => clock.now, newKey: () => crypto.randomUUID(), max }
  return { calls: new WaitingCalls(options), clock, deadlines }
}

const question = (id: number): RpcMessage => makeMessage({ jsonrpc: '2.0', id, method: 'roots/list' })

function attendee(heard: (readonly Question[])[]): Attendee {
  const sink = { message: () => true, closed() {}, failed() {} }
  return { sink, asked: (_round, questions) => void heard.push(questions) }
}

describe('waiting calls', () => {
  it('are so many and no more', () => {
    const { calls, deadlines } = setUp(2)
    const cancelled: number[] = []
    const add = (number: number) => calls.add({ cancel: () => void cancelled.push(number), resume() {} }, attendee([]))
    const [first, second, third] = [add(1), add(2), add(3)]
    assert.ok(first !== null && second !== null && third === null)
    first.abandon(new Error('enough'))
    first.abandon(new Error('again'))
    assert.deepEqual([calls.count, cancelled], [1, [1]])
    assert.ok(add(4) !== null)
    deadlines.close()
  })

  it('ask what comes at once at once, and not without end', async () => {
    const { calls, deadlines } = setUp(1)
    const heard: (readonly Question[])[] = []
    const call = calls.add({ cancel() {}, resume() {} }, attendee(heard))!
    const taken = Array.from({ length: 101 }, (_, id) => call.ask(question(id)))
    assert.deepEqual([taken.filter(Boolean).length, taken.at(-1)], [100, false])
    await Promise.resolve()
    assert.deepEqual([heard.length, heard[0]?.length], [1, 100])
    deadlines.close()
  })

  it('are told by a state that ends', () => {
    const { calls, clock, deadlines } = setUp(1)
    const state = { call: 'c', round: 2, session: 's', target: 't', digest: 'd' }
    const sealed = calls.seal(state)
    assert.deepEqual(calls.open(sealed), state)
    clock.now += ANSWER_MS
    assert.equal(calls.open(sealed), null)
    assert.equal(calls.open('AAAA'), null)
    deadlines.close()
  })
})

describe('questions', () => {
  const request = (params: Record<string, Json>): RpcMessage =>
    makeMessage({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })

  it('are never asked of those who cannot answer, whatever they say', () => {
    const methods = fc.constantFrom('roots/list', 'sampling/createMessage', 'elicitation/create', 'ping')
    fc.assert(
      fc.property(fc.jsonValue(), methods, fc.jsonValue(), (said, method, params) => {
        const abilities = carriedAbilities(said as Json)
        // Few enough that nobody can make up a session for each of many.
        assert.ok(JSON.stringify(abilities).length < 100)
        const asked = makeMessage({ jsonrpc: '2.0', id: 1, method, params: params as Json })
        const name = method.slice(0, method.indexOf('/'))
        if (canAnswer(abilities, asked)) assert.ok(Object.hasOwn(abilities, name))
      }),
    )
  })

  it('belong to one call, however it is written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (args, other) => {
        const given = args as Record<string, Json>
        const turned = Object.fromEntries(Object.entries(given).toReversed())
        const first = digestOf(request({ name: 'a', arguments: given }))
        const again = request({ arguments: turned, name: 'a', requestState: 'x', inputResponses: {}, _meta: {} })
        assert.equal(digestOf(again), first)
        if (JSON.stringify(other) !== JSON.stringify(given.more)) {
          assert.notEqual(digestOf(request({ name: 'a', arguments: { ...given, more: other as Json } })), first)
        }
      }),
    )
  })

  it('are answered by objects alone', () => {
    const inputResponses = { a: {}, b: 1, c: null, d: [], e: 'x' }
    assert.deepEqual([...answersIn(request({ inputResponses })).keys()], ['a'])
    // A number that no double holds looks like an object.
    const large =
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"inputResponses":{"a":12345678901234567890}}}'
    const read = readMessage(Buffer.from(large))
    assert.ok(!(read instanceof BadMessage))
    assert.deepEqual([...answersIn(read).keys()], [])
    assert.deepEqual([...answersIn(request({})).keys()], [])
  })
})
