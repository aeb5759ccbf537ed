import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { EMPTY_IR } from '../ir/change.ts'
import { endpointHashesOf } from './endpoint-parts.ts'
import { changeSince, generationOf, hashesOf } from './hashes.ts'
import { LineReader } from './line-reader.ts'
import { type ControllerMessage, type DataPlaneMessage, lineOf } from './messages.ts'
import { readControllerLine, readDataPlaneLine } from './read-messages.ts'
import { StreamFault } from './stream-fault.ts'
import { irs } from './test-irs.ts'
import { anyCharacter } from '../../../http/src/testing/any-character.ts'

const GENERATION = generationOf(EMPTY_IR)
const NOTHING = changeSince(hashesOf(EMPTY_IR), EMPTY_IR) ?? assert.fail('no keys are there twice')

describe('lines of a stream', () => {
  it('are what was written, however they are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: anyCharacter })),
        fc.array(fc.integer({ min: 1, max: 9 })),
        (texts, cuts) => {
          const lines = texts.map((text) => JSON.stringify(text))
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''))
          const found: string[] = []
          const reader = new LineReader(10_000, (line) => found.push(line))
          let at = 0
          for (let index = 0; at < bytes.length; index++) {
            const size = cuts[index % cuts.length] ?? bytes.length
            reader.push(bytes.subarray(at, at + size))
            at += size
          }
          assert.deepEqual(found, lines)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('have a limit, whether their end has come or not', () => {
    for (const text of ['12345', '12345\n', '1\n12345']) {
      assert.throws(() => new LineReader(4, () => {}).push(Buffer.from(text)), StreamFault)
    }
    const found: string[] = []
    new LineReader(4, (line) => found.push(line)).push(Buffer.from('1234\n5678\n'))
    assert.deepEqual(found, ['1234', '5678'])
  })

  it('are UTF-8', () => {
    assert.throws(() => new LineReader(9, () => {}).push(Buffer.from([0xff, 0x0a])), /UTF-8/)
  })
})

describe('messages of a stream', () => {
  it('are read from controllers as they were written', () => {
    fc.assert(
      fc.property(irs, irs, (before, after) => {
        const change = changeSince(hashesOf(before), after) ?? assert.fail('keys are unique')
        const config: ControllerMessage = { type: 'config', generation: generationOf(after), base: null, change }
        assert.deepEqual(readControllerLine(lineOf(config)), config)
      }),
      { numRuns: 300 },
    )
    const others: ControllerMessage[] = [
      { type: 'endpoints', whole: true, put: [['a', ['10.0.0.7:80', '[fd00::7]:8080']]], drop: [] },
      { type: 'endpoints', whole: false, put: [['a', []]], drop: ['b'] },
      { type: 'endpoints', whole: true, parts: [0, 63], put: [], drop: [] },
      { type: 'ping' },
      { type: 'goodbye', reason: 'another one leads' },
    ]
    for (const message of others) assert.deepEqual(readControllerLine(lineOf(message)), message)
  })

  it('are read from data planes as they were written', () => {
    fc.assert(
      fc.property(fc.option(irs), (ir) => {
        const have = ir === null ? null : { generation: generationOf(ir), hashes: hashesOf(ir) }
        const who = { gateway: 'ns/web', instance: 'pod-1', version: '0.1.0' }
        const endpoints = ir === null ? null : endpointHashesOf([['a', ['10.0.0.7:80']]])
        const hello: DataPlaneMessage = { type: 'hello', ...who, have, endpoints }
        assert.deepEqual(readDataPlaneLine(lineOf(hello)), hello)
      }),
      { numRuns: 300 },
    )
    const others: DataPlaneMessage[] = [
      { type: 'ack', generation: GENERATION },
      { type: 'nack', generation: GENERATION, problems: ['port 80 is taken'] },
      { type: 'health', serving: false },
      { type: 'pong' },
    ]
    for (const message of others) assert.deepEqual(readDataPlaneLine(lineOf(message)), message)
  })

  const config = { type: 'config', generation: GENERATION, base: null, change: NOTHING }
  const backends = (put: unknown, drop: unknown = []) => ({
    ...config,
    change: { ...NOTHING, backends: { put, drop } },
  })
  const refusedOfControllers: Record<string, unknown> = {
    'no object': [config],
    'an unknown kind': { type: 'reboot' },
    'a kind of the other end': { type: 'pong' },
    'an unknown field': { ...config, force: true },
    'no generation': { ...config, generation: undefined },
    'a number as generation': { ...config, generation: 7 },
    'no base': { ...config, base: undefined },
    'an unknown list': { ...config, change: { ...NOTHING, extras: { put: [], drop: [] } } },
    'a list that is missing': { ...config, change: { ...NOTHING, routes: undefined } },
    'a resource without a key': backends([{ resource: { name: 'a' }, after: null }]),
    'a resource that is null': backends([{ resource: null, after: null }]),
    'a place that is no key': backends([{ resource: { key: 'a' }, after: 1 }]),
    'no place': backends([{ resource: { key: 'a' } }]),
    'one key twice': backends([
      { resource: { key: 'a' }, after: null },
      { resource: { key: 'a' }, after: 'a' },
    ]),
    'a key that is put and dropped': backends([{ resource: { key: 'a' }, after: null }], ['a']),
    'a drop that is no list': backends([], 'a'),
    'parts of what is not whole': { type: 'endpoints', whole: false, parts: [1], put: [], drop: [] },
    'a part that is none': { type: 'endpoints', whole: true, parts: [64], put: [], drop: [] },
    'endpoints that may be whole': { type: 'endpoints', put: [], drop: [] },
    'an address that is a name': { type: 'endpoints', whole: true, put: [['a', ['db.example:80']]], drop: [] },
    'an address without a port': { type: 'endpoints', whole: true, put: [['a', ['10.0.0.7']]], drop: [] },
    'a pair of three': { type: 'endpoints', whole: true, put: [['a', [], []]], drop: [] },
    'a goodbye without a reason': { type: 'goodbye' },
  }
  for (const [name, message] of Object.entries(refusedOfControllers)) {
    it(`a controller must not send ${name}`, () => {
      assert.throws(() => readControllerLine(JSON.stringify(message)), StreamFault)
    })
  }

  const hello = { type: 'hello', gateway: 'ns/web', instance: 'pod-1', version: '0.1.0', have: null }
  const have = { generation: GENERATION, hashes: hashesOf(EMPTY_IR) }
  const refusedOfDataPlanes: Record<string, unknown> = {
    'a kind that is no text': { type: 7 },
    'a gateway without a namespace': { ...hello, gateway: 'web' },
    'a gateway of two slashes': { ...hello, gateway: 'a/b/c' },
    'a colon without a shared data plane': { ...hello, gateway: 'a/b:c' },
    'nothing about what it has': { ...hello, have: undefined },
    'hashes that are missing': { ...hello, have: { ...have, hashes: { ...have.hashes, routes: undefined } } },
    'a hash that is none': { ...hello, have: { ...have, hashes: { ...have.hashes, routes: [['a', 'b']] } } },
    'hashes of endpoints that are none': { ...hello, endpoints: ['b'] },
    'a long instance': { ...hello, instance: 'a'.repeat(254) },
    'a nack without problems': { type: 'nack', generation: GENERATION },
    'health without a word on serving': { type: 'health', serving: 'yes' },
    'an ack of a number': { type: 'ack', generation: 1 },
  }
  for (const [name, message] of Object.entries(refusedOfDataPlanes)) {
    it(`a data plane must not send ${name}`, () => {
      assert.throws(() => readDataPlaneLine(JSON.stringify(message)), StreamFault)
    })
  }

  it('a newer data plane may say more than is known here, and is told all where its config has more than is', () => {
    const read = (message: object): DataPlaneMessage => readDataPlaneLine(JSON.stringify(message))
    const ir = { generation: GENERATION, hashes: hashesOf(EMPTY_IR) }
    const known = { ...hello, have: ir, endpoints: endpointHashesOf([]) }
    assert.deepEqual(read({ ...known, zone: 'a', have: { ...ir, since: 1 } }), known)
    assert.deepEqual(read({ ...known, have: { ...ir, hashes: { ...ir.hashes, extras: [] } } }), {
      ...known,
      have: null,
    })
    assert.deepEqual(read({ ...known, endpoints: [GENERATION] }), { ...known, endpoints: null })
    assert.deepEqual(read({ type: 'ack', generation: GENERATION, tookMs: 3 }), { type: 'ack', generation: GENERATION })
    const nack = { type: 'nack', generation: GENERATION, problems: [] }
    assert.deepEqual(read({ ...nack, part: 'routes' }), nack)
    assert.deepEqual(read({ type: 'pong', at: 1 }), { type: 'pong' })
    assert.deepEqual(read({ type: 'load', workers: 2 }), { type: 'unknown' })
  })

  it('a newer controller may say more, but not of what is to go live', () => {
    assert.deepEqual(readControllerLine('{"type":"ping","at":1}'), { type: 'ping' })
    const goodbye = { type: 'goodbye', reason: 'an upgrade' }
    assert.deepEqual(readControllerLine(JSON.stringify({ ...goodbye, backAfterMs: 9 })), goodbye)
    for (const message of [config, { type: 'endpoints', whole: true, put: [], drop: [] }]) {
      assert.throws(() => readControllerLine(JSON.stringify({ ...message, zone: 'a' })), /unknown field/)
    }
  })

  it('that are refused do not stand in what is said about them', () => {
    const secret = 'hunter2'
    const lines = [
      `{"type":"config","${secret}":1}`,
      `{"type":"${secret}"}`,
      `"${secret}`,
      JSON.stringify(backends(secret)),
    ]
    for (const line of lines) {
      assert.throws(
        () => readControllerLine(line),
        (error: Error) => !error.message.includes(secret),
      )
    }
  })

  it('with arbitrary contents are read or rejected', () => {
    const anything = fc.record(
      {
        type: fc.constantFrom('config', 'endpoints', 'ping', 'goodbye', 'hello', 'ack', 'nack', 'pong'),
        change: fc.jsonValue(),
        put: fc.jsonValue(),
        have: fc.jsonValue(),
      },
      { requiredKeys: ['type'] },
    )
    fc.assert(
      fc.property(anything, (message) => {
        for (const read of [readControllerLine, readDataPlaneLine]) {
          try {
            read(JSON.stringify(message))
          } catch (error) {
            assert.ok(error instanceof StreamFault)
          }
        }
      }),
      { numRuns: 1_000 },
    )
  })
})
