import type { MetricPoint, MetricReading } from '../metrics/metrics-collect.ts'
import { unitOf } from '../metrics/families.ts'
import { attributeName, writeAttribute } from './attributes.ts'
import { textSize, WireBuffer } from './wire-buffer.ts'

/** A `Metric` with some points of a family. */
export interface EncodedMetric {
  bytes: Buffer
  points: number
}

interface MetricTimes {
  /** The start of the counters, in milliseconds since 1970. */
  start: number
  now: number
}

/** Encodes a family under its Prometheus name; a large family becomes several `Metric`s, so that requests stay small. */
export function* encodeMetric({ name, family, points }: MetricReading, times: MetricTimes): Iterable<EncodedMetric> {
  const { type, help, buckets = [] } = family
  const encodePoint = type === 'histogram' ? histogramPoint(buckets, times) : numberPoint(type === 'counter', times)
  const head = headOf(name, help, unitOf(name, family))
  const [tag, rest] = KINDS[type]
  for (let from = 0; from < points.length; from += MOST_POINTS) {
    const some = points.slice(from, from + MOST_POINTS)
    const wire = new WireBuffer()
    for (const point of some) writeField(wire, POINT, encodePoint(point))
    wire.raw(rest)
    const data = wire.take()
    wire.raw(head)
    writeField(wire, tag, data)
    yield { bytes: wire.take(), points: some.length }
  }
}

function headOf(name: string, help: string, unit: string): Buffer {
  const wire = new WireBuffer()
  writeText(wire, NAME, name)
  writeText(wire, DESCRIPTION, help)
  writeText(wire, UNIT, unit)
  return wire.take()
}

function numberPoint(isCounter: boolean, { start, now }: MetricTimes): (point: MetricPoint) => Buffer {
  const wire = new WireBuffer()
  return ({ names, values, totals }) => {
    if (isCounter) writeTime(wire, START, start)
    writeTime(wire, TIME, now)
    wire.byte(NUMBER)
    wire.double(totals[0] ?? 0)
    writeLabels(wire, NUMBER_ATTRIBUTE, names, values)
    return wire.take()
  }
}

function histogramPoint(buckets: readonly number[], { start, now }: MetricTimes): (point: MetricPoint) => Buffer {
  const wire = new WireBuffer()
  return ({ names, values, totals }) => {
    const counts = totals.subarray(0, buckets.length + 1)
    writeTime(wire, START, start)
    writeTime(wire, TIME, now)
    wire.byte(COUNT)
    wire.fixed64(counts.reduce((sum, count) => sum + count, 0))
    wire.byte(SUM)
    wire.double(totals.at(-1) ?? 0)
    wire.byte(BUCKET_COUNTS)
    wire.varint(counts.length * 8)
    for (const count of counts) wire.fixed64(count)
    wire.byte(BOUNDS)
    wire.varint(buckets.length * 8)
    for (const bound of buckets) wire.double(bound)
    writeLabels(wire, HISTOGRAM_ATTRIBUTE, names, values)
    return wire.take()
  }
}

function writeLabels(wire: WireBuffer, tag: number, names: readonly string[], values: readonly string[]): void {
  for (const [i, name] of names.entries()) writeAttribute(wire, tag, attributeName(name), values[i] ?? 'unknown')
}

function writeTime(wire: WireBuffer, tag: number, millis: number): void {
  wire.byte(tag)
  wire.nanos(Math.trunc(millis))
}

function writeText(wire: WireBuffer, tag: number, text: string): void {
  const size = textSize(text)
  wire.byte(tag)
  wire.varint(size)
  wire.text(text, size)
}

function writeField(wire: WireBuffer, tag: number, bytes: Buffer): void {
  wire.byte(tag)
  wire.varint(bytes.length)
  wire.raw(bytes)
}

/** Tags of a `Metric`. */
const NAME = 0x0a
const DESCRIPTION = 0x12
const UNIT = 0x1a
/** The tag of the data of each type, and the bytes after its points: all sums are cumulative. */
const CUMULATIVE = [0x10, 2]
const MONOTONIC = [0x18, 1]
const KINDS = {
  gauge: [0x2a, Buffer.alloc(0)],
  counter: [0x3a, Buffer.from([...CUMULATIVE, ...MONOTONIC])],
  histogram: [0x4a, Buffer.from(CUMULATIVE)],
} as const
const POINT = 0x0a
/** Tags of both kinds of points. */
const START = 0x11
const TIME = 0x19
/** Tags of a `NumberDataPoint`. */
const NUMBER = 0x21
const NUMBER_ATTRIBUTE = 0x3a
/** Tags of a `HistogramDataPoint`. */
const COUNT = 0x21
const SUM = 0x29
const BUCKET_COUNTS = 0x32
const BOUNDS = 0x3a
const HISTOGRAM_ATTRIBUTE = 0x4a

const MOST_POINTS = 500
