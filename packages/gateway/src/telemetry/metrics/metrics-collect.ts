import {
  type CounterName,
  exposedName,
  families,
  type Family,
  type FamilyName,
  familyOf,
  type GaugeName,
  type LabelValues,
  slotCount,
} from './families.ts'
import type { Exemplar } from './exemplars.ts'
import { increase, type CustomLabels, seriesKey, type SeriesDefinition } from './metrics.ts'

/** The text format of a scrape. */
export type TextForm = 'prometheus' | 'openMetrics'

/** Sums the metrics of all threads. */
export class Collector {
  readonly #regions = new Map<string, Float64Array>()
  readonly #seriesByFamily = new Map<FamilyName, Map<string, Series>>()
  readonly #readersByFamily = new Map<FamilyName, () => Iterable<readonly [readonly string[], number]>>()

  /** Exemplars by thread and slot of the bucket. */
  readonly #exemplars = new Map<string, Map<number, Exemplar>>()

  /** Adds a thread; must be called before the first definition of the thread. */
  attach(thread: string, region: SharedArrayBuffer): void {
    this.#regions.set(thread, new Float64Array(region))
  }

  define(thread: string, { name, labels, custom, slot }: SeriesDefinition): void {
    const values = this.#regions.get(thread)
    if (values !== undefined) this.#seriesOf(name, labels, custom).sources.push({ thread, values, slot })
  }

  /** Sets the exemplar of a bucket of the thread. */
  exemplify(thread: string, exemplar: Exemplar): void {
    let bySlot = this.#exemplars.get(thread)
    if (bySlot === undefined) this.#exemplars.set(thread, (bySlot = new Map<number, Exemplar>()))
    bySlot.set(exemplar.slot, exemplar)
  }

  /** Removes a thread that ended: its counters are kept, its gauges are dropped. */
  retire(thread: string): void {
    this.#regions.delete(thread)
    this.#exemplars.delete(thread)
    for (const [name, seriesByKey] of this.#seriesByFamily) {
      for (const [key, series] of seriesByKey) {
        const gone = series.sources.filter((source) => source.thread === thread)
        if (gone.length === 0) continue
        series.sources = series.sources.filter((source) => source.thread !== thread)
        if (familyOf(name).type !== 'gauge') addTo(series.base, gone)
        else if (series.sources.length === 0 && series.read === null) seriesByKey.delete(key)
      }
    }
  }

  /** Provides a value that is read at every scrape. */
  provide<N extends CounterName | GaugeName>(name: N, labels: LabelValues<N>, read: () => number): void {
    this.#seriesOf(name, labels, null).read = read
  }

  /** Provides all series of a family at every scrape, for series that come and go. */
  provideAll<N extends GaugeName>(name: N, read: () => Iterable<readonly [LabelValues<N>, number]>): void {
    this.#readersByFamily.set(name, read)
  }

  /** Yields the Prometheus or OpenMetrics text in pieces of some kilobytes, so that a large scrape is never one string. */
  *render(form: TextForm = 'prometheus'): Iterable<string> {
    const isOpen = form === 'openMetrics'
    const bounds = isOpen ? openBound : String
    const exemplarOf = (source: Series['sources'], i: number): string => (isOpen ? this.#exemplarText(source, i) : '')
    let text = ''
    for (const { name, family, series, others } of this.#families()) {
      const { type, help, buckets, labels } = family
      // OpenMetrics names a family of counters without the suffix.
      const titled = isOpen && type === 'counter' ? name.replace(/_total$/, '') : name
      text += `# HELP ${titled} ${escapeHelp(help)}\n# TYPE ${titled} ${type}\n`
      // OpenMetrics allows a unit only where the name ends with it.
      const unit = isOpen ? /_(seconds|bytes)$/.exec(titled)?.[1] : undefined
      if (unit !== undefined) text += `# UNIT ${titled} ${unit}\n`
      for (const [values, value] of others) text += sample(name, labelText(labels, values), value)
      for (const each of series) {
        text +=
          buckets === undefined
            ? sample(name, each.text, valueOf(each))
            : histogramText({ name, buckets, bounds, exemplarOf }, each)
        if (text.length < PIECE_LENGTH) continue
        yield text
        text = ''
      }
    }
    yield isOpen ? `${text}# EOF\n` : text
  }

  /** Returns the newest exemplar of all threads as text. */
  #exemplarText(sources: Series['sources'], bucket: number): string {
    let newest: Exemplar | null = null
    for (const { thread, slot } of sources) {
      const found = this.#exemplars.get(thread)?.get(slot + bucket)
      if (found !== undefined && (newest === null || found.time > newest.time)) newest = found
    }
    if (newest === null) return ''
    const { traceId, spanId, value, time } = newest
    return ` # {trace_id="${traceId}",span_id="${spanId}"} ${value} ${(time / 1000).toFixed(3)}`
  }

  /** Yields the current values of one family, series by series. */
  *readFamily(name: FamilyName): Iterable<MetricPoint> {
    for (const each of this.#seriesByFamily.get(name)?.values() ?? []) {
      yield { names: each.names, values: each.values, totals: totalsOf(each) }
    }
  }

  /** Yields the numbers that `render` prints, one family after the other. */
  *read(): Iterable<MetricReading> {
    for (const { name, family, series, others } of this.#families()) {
      const provided = others.map(([values, value]) => ({
        names: family.labels,
        values,
        totals: Float64Array.of(value),
      }))
      const counted = series.map((each) => ({ names: each.names, values: each.values, totals: totalsOf(each) }))
      yield { name, family, points: [...provided, ...counted] }
    }
  }

  /** Yields the families that have series, in order. */
  *#families(): Iterable<FamilySeries> {
    for (const name of NAMES) {
      const series = [...(this.#seriesByFamily.get(name)?.values() ?? [])]
      const others = [...(this.#readersByFamily.get(name)?.() ?? [])]
      if (series.length + others.length > 0) yield { name: exposedName(name), family: familyOf(name), series, others }
    }
  }

  #seriesOf(name: FamilyName, labels: readonly string[], custom: CustomLabels | null): Series {
    let seriesByKey = this.#seriesByFamily.get(name)
    if (seriesByKey === undefined) this.#seriesByFamily.set(name, (seriesByKey = new Map<string, Series>()))
    const key = seriesKey(name, labels, custom)
    let series = seriesByKey.get(key)
    if (series === undefined) {
      const base = new Float64Array(slotCount(familyOf(name)))
      const names = [...familyOf(name).labels, ...(custom?.names ?? [])]
      const values = [...labels, ...(custom?.values ?? [])]
      series = { names, values, text: labelText(names, values), base, sources: [], read: null }
      seriesByKey.set(key, series)
    }
    return series
  }
}

/** The families in the order of a scrape. */
const NAMES = Object.keys(families) as FamilyName[]

/** The current values of a family. */
export interface MetricReading {
  /** The name with its prefix, as in a scrape. */
  name: string
  family: Family
  points: MetricPoint[]
}

export interface MetricPoint {
  /** The names of the labels. */
  names: readonly string[]
  values: readonly string[]
  /** One value; for a histogram the count of each bucket, and the sum at the end. */
  totals: Float64Array
}

interface FamilySeries {
  name: string
  family: Family
  series: Series[]
  /** The labels and values of series from `provideAll`. */
  others: (readonly [readonly string[], number])[]
}

interface Series {
  names: readonly string[]
  values: readonly string[]
  /** `name="value",...`, escaped. */
  text: string
  /** The sums of threads that ended. */
  base: Float64Array
  sources: { thread: string; values: Float64Array; slot: number }[]
  read: (() => number) | null
}

const PIECE_LENGTH = 32 * 1024

function addTo(totals: Float64Array, sources: Series['sources']): void {
  for (const { values, slot } of sources) {
    for (let i = 0; i < totals.length; i += 1) increase(totals, i, values[slot + i] ?? 0)
  }
}

function valueOf({ base, sources, read }: Series): number {
  const [counted = 0] = base
  return sources.reduce(
    (total, { values, slot }) => total + (values[slot] ?? 0),
    counted + (read === null ? 0 : read()),
  )
}

function totalsOf(series: Series): Float64Array {
  const totals = series.base.slice()
  addTo(totals, series.sources)
  if (series.read !== null) increase(totals, 0, series.read())
  return totals
}

interface HistogramForm {
  name: string
  buckets: readonly number[]
  bounds: (bound: number) => string
  /** Returns the exemplar text after the count of a bucket. */
  exemplarOf: (sources: Series['sources'], bucket: number) => string
}

/** Formats a bound as Go does, with a fraction, as OpenMetrics requires. */
function openBound(bound: number): string {
  if (bound >= 1e6 || bound < 1e-4) return bound.toExponential().replace(/e([+-])(\d)$/, 'e$10$2')
  return Number.isInteger(bound) ? `${bound}.0` : String(bound)
}

function histogramText({ name, buckets, bounds, exemplarOf }: HistogramForm, series: Series): string {
  const totals = totalsOf(series)
  const labels = series.text
  const comma = labels === '' ? '' : ','
  let text = ''
  let count = 0
  for (let i = 0; i <= buckets.length; i += 1) {
    count += totals[i] ?? 0
    const bound = buckets[i]
    const le = `${labels}${comma}le="${bound === undefined ? '+Inf' : bounds(bound)}"`
    text += sample(`${name}_bucket`, le, count, exemplarOf(series.sources, i))
  }
  return text + sample(`${name}_sum`, labels, totals.at(-1) ?? 0) + sample(`${name}_count`, labels, count)
}

function sample(name: string, labels: string, value: number, exemplar = ''): string {
  return `${labels === '' ? name : `${name}{${labels}}`} ${numberText(value)}${exemplar}\n`
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value)
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'
}

function labelText(names: readonly string[], values: readonly string[]): string {
  return names.map((name, i) => `${name}="${escapeLabel(values[i] ?? 'unknown')}"`).join(',')
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

function escapeHelp(help: string): string {
  return help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
