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
import { increase, type CustomLabels, seriesKey, type SeriesDefinition } from './metrics.ts'

/** Sums the regions of all threads. */
export class Collector {
  readonly #regions = new Map<string, Float64Array>()
  readonly #seriesByFamily = new Map<FamilyName, Map<string, Series>>()
  readonly #readersByFamily = new Map<FamilyName, () => Iterable<readonly [readonly string[], number]>>()

  /** Before the first definition of the thread. */
  attach(thread: string, region: SharedArrayBuffer): void {
    this.#regions.set(thread, new Float64Array(region))
  }

  define(thread: string, { name, labels, custom, slot }: SeriesDefinition): void {
    const values = this.#regions.get(thread)
    if (values !== undefined) this.#seriesOf(name, labels, custom).sources.push({ thread, values, slot })
  }

  /** The thread is gone: what it counted stays, what it gauged does not. */
  retire(thread: string): void {
    this.#regions.delete(thread)
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

  /** A value that is asked for when it is shown. */
  provide<N extends CounterName | GaugeName>(name: N, labels: LabelValues<N>, read: () => number): void {
    this.#seriesOf(name, labels, null).read = read
  }

  /** All series of a family at once, asked for when they are shown: for those that come and go. */
  provideAll<N extends GaugeName>(name: N, read: () => Iterable<readonly [LabelValues<N>, number]>): void {
    this.#readersByFamily.set(name, read)
  }

  /** Prometheus text in pieces of some kilobytes, so that a big scrape is never one string. */
  *render(): Iterable<string> {
    let text = ''
    for (const { name, family, series, others } of this.#shown()) {
      const { type, help, buckets, labels } = family
      text += `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n`
      for (const [values, value] of others) text += sample(name, labelText(labels, values), value)
      for (const each of series) {
        text += buckets === undefined ? sample(name, each.text, valueOf(each)) : histogramText(name, each, buckets)
        if (text.length < PIECE_LENGTH) continue
        yield text
        text = ''
      }
    }
    yield text
  }

  /** What `render` shows, as numbers, one family after the other. */
  *read(): Iterable<MetricReading> {
    for (const { name, family, series, others } of this.#shown()) {
      const provided = others.map(([values, value]) => ({
        names: family.labels,
        values,
        totals: Float64Array.of(value),
      }))
      const counted = series.map((each) => ({ names: each.names, values: each.values, totals: totalsOf(each) }))
      yield { name, family, points: [...provided, ...counted] }
    }
  }

  /** Families with anything to show, in order. */
  *#shown(): Iterable<Shown> {
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

/** As they are shown. */
const NAMES = Object.keys(families) as FamilyName[]

/** A family as it is now. */
export interface MetricReading {
  /** As it is shown. */
  name: string
  family: Family
  points: MetricPoint[]
}

export interface MetricPoint {
  /** Of its labels. */
  names: readonly string[]
  values: readonly string[]
  /** One value; for a histogram the count of each bucket, and the sum at the end. */
  totals: Float64Array
}

interface Shown {
  name: string
  family: Family
  series: Series[]
  /** Labels and values of series that are asked for all at once. */
  others: (readonly [readonly string[], number])[]
}

interface Series {
  names: readonly string[]
  values: readonly string[]
  /** `name="value",...`, escaped. */
  text: string
  /** What threads that are gone have counted. */
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

function histogramText(name: string, series: Series, buckets: readonly number[]): string {
  const totals = totalsOf(series)
  const labels = series.text
  const comma = labels === '' ? '' : ','
  let text = ''
  let count = 0
  for (let i = 0; i <= buckets.length; i += 1) {
    count += totals[i] ?? 0
    text += sample(`${name}_bucket`, `${labels}${comma}le="${buckets[i] ?? '+Inf'}"`, count)
  }
  return text + sample(`${name}_sum`, labels, totals.at(-1) ?? 0) + sample(`${name}_count`, labels, count)
}

function sample(name: string, labels: string, value: number): string {
  return `${labels === '' ? name : `${name}{${labels}}`} ${numberText(value)}\n`
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
