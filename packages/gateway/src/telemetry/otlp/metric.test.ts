import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { readMetrics } from '../../testing/otlp/otlp-metrics.ts'
import { WrittenItems } from '../../testing/written-items.ts'
import { unitOf } from '../metrics/families.ts'
import type { MetricReading } from '../metrics/metrics-collect.ts'
import { createEnvelope } from './envelope.ts'
import { type EncodedMetric, encodeMetric } from './metric.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

const origin = { resource: { 'service.name': 'portico', team: 'ä' }, scope: { name: 'portico', version: '0.1' } }
const times = { start: 1_700_000_000_123, now: 1_700_000_060_456 }
const wrap = createEnvelope(origin)

/** Its metrics are plain objects here: types of its own would bring the whole SDK along. */
const { ProtobufMetricsSerializer } = createRequire(import.meta.url)('@opentelemetry/otlp-transformer') as {
  ProtobufMetricsSerializer: { serializeRequest(metrics: object): Uint8Array | undefined }
}

/** Numbers of the SDK. */
const [HISTOGRAM, GAUGE, SUM] = [0, 2, 3]
const [DOUBLE, CUMULATIVE] = [1, 1]

function sdkRequest(readings: readonly MetricReading[]): object {
  const metrics = readings.map(sdkMetric)
  return { resource: { attributes: origin.resource }, scopeMetrics: [{ scope: origin.scope, metrics }] }
}

/** The same metric as the SDK of OpenTelemetry has it. */
function sdkMetric({ name, family, points }: MetricReading): object {
  const { type, help, buckets = [] } = family
  const hrTime = (millis: number): [number, number] => [Math.floor(millis / 1000), (millis % 1000) * 1_000_000]
  return {
    descriptor: { name, description: help, unit: unitOf(name, family), valueType: DOUBLE },
    aggregationTemporality: CUMULATIVE,
    dataPointType: { histogram: HISTOGRAM, gauge: GAUGE, counter: SUM }[type],
    isMonotonic: true,
    dataPoints: points.map(({ names, values, totals }) => {
      const counts = [...totals].slice(0, -1)
      const count = counts.reduce((sum, each) => sum + each, 0)
      return {
        startTime: type === 'gauge' ? [0, 0] : hrTime(times.start),
        endTime: hrTime(times.now),
        attributes: Object.fromEntries(names.map((label, i) => [label, values[i]])),
        value:
          type === 'histogram' ? { count, sum: totals.at(-1), buckets: { counts, boundaries: buckets } } : totals[0],
      }
    }),
  }
}

test('metrics are encoded as the OpenTelemetry encoder does', () => {
  const text = fc.string({ unit: anyCharacter, maxLength: 40 })
  const name = fc.stringMatching(/^[a-z_]{1,12}(_seconds)?$/)
  const names = fc.uniqueArray(name, { maxLength: 4 })
  const bounds = fc.uniqueArray(fc.double({ noNaN: true, noDefaultInfinity: true }), { minLength: 1, maxLength: 5 })
  const reading = fc
    .record({
      name,
      help: text.filter((help) => help !== ''),
      type: fc.constantFrom('counter', 'gauge', 'histogram'),
      labels: names,
      buckets: bounds,
    })
    .chain(({ type, labels, buckets, help, ...rest }) => {
      const isHistogram = type === 'histogram'
      const count = fc.integer({ min: 0, max: 2 ** 48 })
      const value = fc.double({ noNaN: true })
      const totals = isHistogram
        ? fc.tuple(fc.array(count, { minLength: buckets.length + 1, maxLength: buckets.length + 1 }), value)
        : fc.tuple(fc.constant([]), value)
      const point = fc.record({
        names: fc.constant(labels),
        values: fc.array(text, { minLength: labels.length, maxLength: labels.length }),
        totals: totals.map(([counts, last]) => Float64Array.from([...counts, last])),
      })
      const family = { type, help, labels, ...(isHistogram && { buckets }) }
      return fc.record({
        ...constants(rest),
        family: fc.constant(family),
        points: fc.array(point, { minLength: 1, maxLength: 4 }),
      })
    })
  fc.assert(
    fc.property(fc.array(reading, { minLength: 1, maxLength: 4 }), (readings) => {
      const theirs = ProtobufMetricsSerializer.serializeRequest(sdkRequest(readings))
      assert.ok(theirs)
      const own = readings.flatMap((each) => [...encodeMetric(each, times)])
      assert.deepEqual(readMetrics(wrap(itemsOf(own))), readMetrics(theirs))
    }),
  )
})

test('a family of many series becomes several metrics of one name', () => {
  const points = Array.from({ length: 1_201 }, (_, i) => ({
    names: ['n'],
    values: [String(i)],
    totals: Float64Array.of(i),
  }))
  const family = { type: 'counter', help: 'x', labels: ['n'] } as const
  const parts = [...encodeMetric({ name: 'portico_x_bytes_total', family, points }, times)]
  assert.deepEqual(
    parts.map((part) => part.points),
    [500, 500, 201],
  )
  const seen = readMetrics(wrap(itemsOf(parts)))
  assert.deepEqual([...new Set(seen.map(({ name, unit }) => `${name} ${unit}`))], ['portico_x_bytes_total By'])
  assert.deepEqual(
    seen.flatMap((metric) => metric.points.map(({ value }) => value)),
    points.map((_, i) => i),
  )
  assert.deepEqual([...encodeMetric({ name: 'none', family, points: [] }, times)], [])
})

function itemsOf(metrics: readonly EncodedMetric[]): Buffer {
  const items = new WrittenItems()
  for (const { bytes } of metrics) {
    items.begin().raw(bytes)
    items.added()
  }
  return items.take()
}

function constants<T extends object>(values: T): { [K in keyof T]: fc.Arbitrary<T[K]> } {
  const entries = Object.entries(values).map(([key, value]) => [key, fc.constant(value)])
  return Object.fromEntries(entries) as { [K in keyof T]: fc.Arbitrary<T[K]> }
}
