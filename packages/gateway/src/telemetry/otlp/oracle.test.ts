import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { accessRecord } from '../../testing/access-record.ts'
import { readLogs } from '../../testing/otlp/otlp-collector.ts'
import { WrittenItems } from '../../testing/written-items.ts'
import { editedJsonLine, type LogValue } from '../log/access-log.ts'
import { createEnvelope } from './envelope.ts'
import { LogRecordEncoder, type LogEntry } from './log-record.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

const origin = { resource: { 'service.name': 'portico', team: 'ä' }, scope: { name: 'portico', version: '0.1' } }

/** Its records are plain objects here: types of its own would bring the whole SDK along. */
const { ProtobufLogsSerializer } = createRequire(import.meta.url)('@opentelemetry/otlp-transformer') as {
  ProtobufLogsSerializer: { serializeRequest(records: object[]): Uint8Array | undefined }
}
const resource = { attributes: origin.resource }

/** The same record as the SDK of OpenTelemetry has it, with attributes as the JSON line of the log says them. */
function sdkRecord({ record, gateway, changes, time }: LogEntry): object {
  const trace = record.traceContext
  const plain = { record: { ...record, traceContext: null }, gateway, time: '' }
  const line = editedJsonLine(plain, changes ?? { removed: new Set(), added: new Map() })
  const { level: _level, time: _time, scope: _scope, ...attributes } = JSON.parse(line) as Record<string, LogValue>
  const at: [number, number] = [Math.floor(time / 1000), (time % 1000) * 1_000_000]
  return {
    hrTime: at,
    hrTimeObserved: at,
    severityNumber: 9,
    severityText: 'INFO',
    body: 'request',
    attributes,
    droppedAttributesCount: 0,
    resource,
    instrumentationScope: origin.scope,
    ...(trace !== null && {
      spanContext: { traceId: trace.traceId, spanId: trace.spanId, traceFlags: trace.flags },
    }),
  }
}

test('log records are encoded as the OpenTelemetry encoder does', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 60 })
  const name = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 }).map((word) => `x.${word}`)
  const value = fc.letrec<{ any: LogValue }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small', maxDepth: 3 },
      text,
      fc.boolean(),
      fc.maxSafeInteger(),
      fc.double({ noNaN: true, noDefaultInfinity: true, noInteger: true }),
      fc.array(tie('any'), { maxLength: 4 }),
      fc.dictionary(name, tie('any'), { maxKeys: 4, noNullPrototype: true }),
    ),
  })).any
  const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length - 1}}1$`))
  const entry: fc.Arbitrary<LogEntry> = fc.record({
    record: fc
      .record({
        target: fc.option(text),
        host: fc.option(text),
        error: fc.option(text),
        status: fc.constantFrom(0, 200, 503),
        responseBytes: fc.nat(),
        durationMs: fc.double({ min: 0, max: 1e6, noNaN: true }),
        traceContext: fc.option(fc.record({ traceId: hex(32), spanId: hex(16), flags: fc.constantFrom(0, 1) })),
      })
      .map((fields) => ({ ...accessRecord, ...fields })),
    gateway: text,
    changes: fc.option(
      fc.record({
        removed: fc.subarray(['http.path', 'gateway', 'duration', 'error']).map((names) => new Set(names)),
        added: fc
          .array(fc.tuple(name, value), { maxLength: 4 })
          .map((entries) => new Map(entries.filter(([, item]) => JSON.stringify(item).length <= 4096))),
      }),
    ),
    time: fc.integer({ min: 0, max: 4_000_000_000_000 }),
  })
  const items = new WrittenItems()
  const encoder = new LogRecordEncoder(items)
  const wrap = createEnvelope(origin)
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 5 }), (entries) => {
      const theirs = ProtobufLogsSerializer.serializeRequest(entries.map(sdkRecord))
      assert.ok(theirs)
      for (const each of entries) encoder.add(each)
      assert.deepEqual(readLogs(wrap(items.take())), readLogs(theirs))
    }),
  )
})
