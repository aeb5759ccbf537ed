import type { BinaryReader } from '@bufbuild/protobuf/wire'
import type { LogValue } from '../../telemetry/log/access-log.ts'
import { readAttribute, readEnvelope, readFields, type SeenOrigin, skipZero } from './otlp-fields.ts'

/** A metric of one request, with its resource and scope. */
export interface SeenMetric extends SeenOrigin {
  name: string
  description: string
  unit: string
  type: '' | 'gauge' | 'sum' | 'histogram'
  temporality: number
  isMonotonic: boolean
  points: SeenPoint[]
}

interface SeenPoint {
  start: bigint
  time: bigint
  attributes: Record<string, LogValue>
  /** Null for a histogram. */
  value: number | null
  histogram: { count: number; sum: number; counts: number[]; bounds: number[] } | null
}

/** Every metric of an `ExportMetricsServiceRequest`; a field that the protocol does not have throws. */
export function readMetrics(request: Uint8Array): SeenMetric[] {
  const metrics: SeenMetric[] = []
  readEnvelope(request, (bytes, origin) => metrics.push({ ...origin, ...readMetric(bytes) }))
  return metrics
}

function readMetric(bytes: Uint8Array): Omit<SeenMetric, keyof SeenOrigin> {
  const metric: Omit<SeenMetric, keyof SeenOrigin> = {
    name: '',
    description: '',
    unit: '',
    type: '',
    temporality: 0,
    isMonotonic: false,
    points: [],
  }
  const data = (type: SeenMetric['type'], read: (bytes: Uint8Array) => SeenPoint) => (reader: BinaryReader) => {
    metric.type = type
    readFields(reader.bytes(), {
      1: (inner) => metric.points.push(read(inner.bytes())),
      2: (inner) => (metric.temporality = inner.int32()),
      3: (inner) => (metric.isMonotonic = inner.bool()),
    })
  }
  readFields(bytes, {
    1: (reader) => (metric.name = reader.string()),
    2: (reader) => (metric.description = reader.string()),
    3: (reader) => (metric.unit = reader.string()),
    5: data('gauge', readNumber),
    7: data('sum', readNumber),
    9: data('histogram', readHistogram),
  })
  return metric
}

function readNumber(bytes: Uint8Array): SeenPoint {
  const point: SeenPoint = { start: 0n, time: 0n, attributes: {}, value: null, histogram: null }
  readFields(bytes, {
    2: (reader) => (point.start = BigInt(reader.fixed64())),
    3: (reader) => (point.time = BigInt(reader.fixed64())),
    4: (reader) => (point.value = reader.double()),
    7: (reader) => readAttribute(reader.bytes(), point.attributes),
    8: skipZero,
  })
  return point
}

function readHistogram(bytes: Uint8Array): SeenPoint {
  const histogram: NonNullable<SeenPoint['histogram']> = { count: 0, sum: 0, counts: [], bounds: [] }
  const point: SeenPoint = { start: 0n, time: 0n, attributes: {}, value: null, histogram }
  readFields(bytes, {
    2: (reader) => (point.start = BigInt(reader.fixed64())),
    3: (reader) => (point.time = BigInt(reader.fixed64())),
    4: (reader) => (histogram.count = Number(reader.fixed64())),
    5: (reader) => (histogram.sum = reader.double()),
    6: (reader) => (histogram.counts = packed(reader, (inner) => Number(inner.fixed64()))),
    7: (reader) => (histogram.bounds = packed(reader, (inner) => inner.double())),
    9: (reader) => readAttribute(reader.bytes(), point.attributes),
    10: skipZero,
  })
  return point
}

function packed(reader: BinaryReader, read: (reader: BinaryReader) => number): number[] {
  const end = reader.uint32() + reader.pos
  const values: number[] = []
  while (reader.pos < end) values.push(read(reader))
  return values
}

/** The lines of a scrape of the same metrics, sorted. */
export function asScraped(metrics: readonly SeenMetric[]): string[] {
  return metrics.flatMap(({ name, points }) => points.flatMap((point) => pointLines(name, point))).toSorted()
}

/** The lines of a scrape that have a value, sorted. */
export function scrapedLines(text: string): string[] {
  const lines = text.split('\n')
  return lines.filter((line) => line !== '' && !line.startsWith('#')).toSorted()
}

function pointLines(name: string, { attributes, value, histogram }: SeenPoint): string[] {
  const labels = Object.entries(attributes).map(([label, text]) => `${label}=${JSON.stringify(text)}`)
  const line = (suffix: string, shown: number, more: readonly string[] = []): string => {
    const all = [...labels, ...more].join()
    return `${name}${suffix}${all === '' ? '' : `{${all}}`} ${shown}`
  }
  if (histogram === null) return [line('', value ?? NaN)]
  const { count, sum, counts, bounds } = histogram
  const below = (end: number): number => counts.slice(0, end + 1).reduce((total, each) => total + each, 0)
  return [
    ...counts.map((_, i) => line('_bucket', below(i), [`le="${bounds[i] ?? '+Inf'}"`])),
    line('_sum', sum),
    line('_count', count),
  ]
}
