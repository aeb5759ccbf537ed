import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { accessRecord as plain } from '../../testing/access-record.ts'
import { readLogs, type SeenLog } from '../../testing/otlp/otlp-collector.ts'
import { WrittenItems } from '../../testing/written-items.ts'
import type { AccessRecord } from '../log/access-record.ts'
import { editedJsonLine, type LineChanges, type LogValue } from '../log/access-log.ts'
import { createEnvelope } from './envelope.ts'
import { LogRecordEncoder } from './log-record.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

const origin = { resource: { 'service.name': 'portico', note: 'größer' }, scope: { name: 'portico', version: '1' } }
const wrap = createEnvelope(origin)
const items = new WrittenItems()
const encoder = new LogRecordEncoder(items)
const time = Date.UTC(2026, 10, 15, 12, 30, 15, 250)
const none: LineChanges = { removed: new Set(), added: new Map() }

function sent(record: Partial<AccessRecord>, changes: LineChanges | null = null): SeenLog {
  encoder.add({ record: { ...plain, ...record }, gateway: 'a/b', changes, time })
  const [log] = readLogs(wrap(items.take()))
  assert.ok(log)
  return log
}

/** The fields of the JSON line, which says the same. */
function lineFields(record: Partial<AccessRecord>, changes = none): Record<string, LogValue> {
  const line = editedJsonLine({ record: { ...plain, ...record }, gateway: 'a/b', time: '' }, changes)
  const { level: _level, time: _time, scope: _scope, ...fields } = JSON.parse(line) as Record<string, LogValue>
  return fields
}

test('a record says what the line of the log says, in order', () => {
  const record = { error: 'gone "away"', status: 503, target: '/ä?q=1', responseBytes: 5_000_000_000 }
  const log = sent(record)
  assert.deepEqual(Object.entries(log.attributes), Object.entries(lineFields(record)))
  assert.deepEqual(
    [log.resource, log.scope, log.severity, log.severityText, log.body],
    [origin.resource, origin.scope, 9, 'INFO', 'request'],
  )
  assert.deepEqual([log.time, log.observed], [BigInt(time) * 1_000_000n, BigInt(time) * 1_000_000n])
})

test('whatever of a record is there or is not, it says what the line says', () => {
  const text = fc.option(fc.string({ maxLength: 150 }))
  const whole = fc.oneof(fc.constant(0), fc.maxSafeInteger().map(Math.abs))
  const fields = fc.record({
    srcAddr: text,
    method: text,
    host: text,
    target: text,
    version: text,
    sni: text,
    requestId: text,
    decisionId: text,
    error: text,
    status: fc.constantFrom(0, 200, 503),
    grpcStatus: fc.option(fc.nat(20)),
    protocol: fc.constantFrom('http', 'tcp'),
    retryAttempt: fc.nat(3),
    requestBytes: whole,
    responseBytes: whole,
    reason: fc.constantFrom('Upstream', 'Timeout'),
    durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
  }) as fc.Arbitrary<Partial<AccessRecord>>
  fc.assert(
    fc.property(fields, (record) => {
      assert.deepEqual(Object.entries(sent(record).attributes), Object.entries(lineFields(record)))
    }),
  )
})

test('records of several places say each its own, whatever came before', () => {
  const places: Partial<AccessRecord>[] = [
    {},
    { endpoint: null },
    { endpoint: '127.0.0.1:9001' },
    { routeName: null, endpoint: null },
    { listenerName: 'other' },
    { listenerName: 'größer', routeName: 'x'.repeat(200) },
  ]
  const changes = { removed: new Set(['route']), added: new Map([['endpoint', 'mine']]) }
  for (const first of places) {
    for (const second of places) {
      for (const record of [first, first, second]) {
        assert.deepEqual(Object.entries(sent(record).attributes), Object.entries(lineFields(record)))
      }
      assert.deepEqual(sent(second, changes).attributes, lineFields(second, changes))
    }
  }
})

test('removed fields are gone, and added ones come last with their types', () => {
  const added = new Map<string, LogValue>([
    ['n', -5],
    ['half', 0.5],
    ['big', 2 ** 60],
    ['yes', true],
    ['list', ['a', 1, null, [false]]],
    ['map', { a: { b: 'c' }, ä: [] }],
    ['route', 'mine'],
  ])
  const changes = { removed: new Set(['http.path']), added }
  const { attributes } = sent({ target: '/secret' }, changes)
  assert.deepEqual(Object.entries(attributes), Object.entries(lineFields({ target: '/secret' }, changes)))
  assert.equal(attributes['http.path'], undefined)
})

test('long and deep values are cut, as texts', () => {
  let deep: LogValue = 1
  for (let i = 0; i < 1000; i++) deep = [deep]
  const added = new Map<string, LogValue>([
    ['long', 'x'.repeat(10_000)],
    ['wide', Array.from({ length: 5000 }, (_, i) => i)],
    ['deep', deep],
  ])
  const { attributes } = sent({}, { removed: new Set(), added })
  assert.equal(textOf(attributes['long']).length, 4097)
  assert.match(textOf(attributes['wide']), /^\[0,1,2,.*…$/)
  assert.match(textOf(attributes['deep']), /^\[{8}/)
})

test('invalid Unicode is replaced, and the rest of the record stays', () => {
  const { attributes } = sent({ host: '\ud800x', target: `/${'\udc00'.repeat(50)}` })
  assert.deepEqual([attributes['http.host'], attributes['http.path']], ['\ufffdx', `/${'\ufffd'.repeat(50)}`])
})

test('a trace context stands where the protocol has it', () => {
  const trace = { traceId: '0af7651916cd43dd8448eb211c80319c', spanId: 'b7ad6b7169203331', flags: 1 }
  const { traceId, spanId, flags } = sent({ traceContext: trace })
  assert.deepEqual({ traceId, spanId, flags }, trace)
})

test('any text, number and nesting comes out as it went in', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 200 })
  const value = fc.letrec<{ any: LogValue }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', maxDepth: 4 },
      text,
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => (Object.is(n, -0) ? 0 : n)),
      fc.array(tie('any'), { maxLength: 5 }),
      fc.dictionary(text, tie('any'), { maxKeys: 5, noNullPrototype: true }),
    ),
  })).any
  const fields = fc.array(fc.tuple(text, value), { maxLength: 8 })
  fc.assert(
    fc.property(fields, text, fc.maxSafeInteger(), (entries, target, bytes) => {
      const added = new Map(entries.filter(([, item]) => JSON.stringify(item).length <= 4096))
      const record = { target, responseBytes: Math.abs(bytes) }
      const changes = { removed: new Set<string>(), added }
      const entry = { record: { ...plain, ...record }, gateway: 'a/b', changes, time }
      encoder.add(entry)
      encoder.add(entry)
      const [first, second] = readLogs(wrap(items.take()))
      assert.deepEqual(first, second)
      for (const [name, expected] of added) assert.deepEqual(first?.attributes[name], expected)
      if (!added.has('http.path')) assert.equal(first?.attributes['http.path'], target)
      if (!added.has('response.bytes')) assert.equal(first?.attributes['response.bytes'], Math.abs(bytes))
    }),
  )
})

function textOf(value: LogValue | undefined): string {
  assert.ok(typeof value === 'string')
  return value
}
