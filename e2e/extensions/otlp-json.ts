/** OTLP as the collector writes it to a file: the JSON form of the messages. */

export type OtlpValue = string | number | boolean | null | OtlpValue[] | { [key: string]: OtlpValue }

interface AnyValue {
  stringValue?: string
  intValue?: string
  doubleValue?: number
  boolValue?: boolean
  arrayValue?: { values?: AnyValue[] }
  kvlistValue?: { values?: KeyValue[] }
}

interface KeyValue {
  key: string
  value: AnyValue
}

export interface LogRequest {
  resourceLogs: { scopeLogs: { logRecords: { attributes: KeyValue[] }[] }[] }[]
}

export interface MetricRequest {
  resourceMetrics: { scopeMetrics: { metrics: Metric[] }[] }[]
}

export interface Metric {
  name: string
  sum?: { dataPoints: Point[]; aggregationTemporality: number; isMonotonic: boolean }
  gauge?: { dataPoints: Point[] }
  histogram?: { dataPoints: Point[]; aggregationTemporality: number }
}

interface Point {
  attributes?: KeyValue[]
  startTimeUnixNano?: string
  asDouble?: number
  count?: string
  sum?: number
  bucketCounts?: string[]
  explicitBounds?: number[]
}

/** The same metrics as lines of a scrape, in a fixed order. */
export function asScraped(metrics: readonly Metric[]): string[] {
  return metrics
    .flatMap(
      ({ name, sum, gauge, histogram }) =>
        (sum ?? gauge ?? histogram)?.dataPoints.flatMap((point) => pointLines(name, point)) ?? [],
    )
    .toSorted()
}

function pointLines(name: string, { attributes = [], asDouble = 0, ...point }: Point): string[] {
  const labels = attributes.map(({ key, value }) => `${key}=${JSON.stringify(value.stringValue ?? '')}`)
  const line = (suffix: string, value: number, more: readonly string[] = []): string => {
    const all = [...labels, ...more].join()
    return `${name}${suffix}${all === '' ? '' : `{${all}}`} ${value}`
  }
  const { bucketCounts, explicitBounds = [], count = '0', sum = 0 } = point
  if (bucketCounts === undefined) return [line('', asDouble)]
  let below = 0
  const buckets = bucketCounts.map((each, i) => {
    below += Number(each)
    return line('_bucket', below, [`le="${explicitBounds[i] ?? '+Inf'}"`])
  })
  return [...buckets, line('_sum', sum), line('_count', Number(count))]
}

export function attributesOf(attributes: readonly KeyValue[]): Record<string, OtlpValue> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, valueOf(value)]))
}

function valueOf(value: AnyValue): OtlpValue {
  const { stringValue, intValue, doubleValue, boolValue, arrayValue, kvlistValue } = value
  if (intValue !== undefined) return Number(intValue)
  if (arrayValue !== undefined) return (arrayValue.values ?? []).map(valueOf)
  if (kvlistValue !== undefined) return attributesOf(kvlistValue.values ?? [])
  return stringValue ?? doubleValue ?? boolValue ?? null
}
