import { exposedName, families, familyOf, slotCount } from './families.ts'
import type { CounterName, FamilyName, GaugeName, LabelValues } from './families.ts'
import { seriesKey } from './metrics.ts'
import type { CustomLabels, SeriesDefinition } from './metrics.ts'

/** Sums the regions of all threads. */
export interface Collector {
  /** Before the first definition of the thread. */
  attach(thread: string, region: SharedArrayBuffer): void
  define(thread: string, definition: SeriesDefinition): void
  /** The thread is gone: what it counted stays, what it gauged does not. */
  retire(thread: string): void
  /** A value that is asked for when it is shown. */
  provide<N extends CounterName | GaugeName>(name: N, labels: LabelValues<N>, read: () => number): void
  /** All series of a family at once, asked for when they are shown: for those that come and go. */
  provideAll<N extends GaugeName>(name: N, read: () => Iterable<readonly [LabelValues<N>, number]>): void
  /** Prometheus text in pieces of some kilobytes, so that a big scrape is never one string. */
  render(): Iterable<string>
}

export function createCollector(): Collector {
  const regions = new Map<string, Float64Array>()
  const seriesByFamily = new Map<FamilyName, Map<string, Series>>(
    (Object.keys(families) as FamilyName[]).map((name) => [name, new Map<string, Series>()]),
  )

  const readersByFamily = new Map<FamilyName, () => Iterable<readonly [readonly string[], number]>>()

  return { attach, define, retire, provide, provideAll, render }

  function attach(thread: string, region: SharedArrayBuffer): void {
    regions.set(thread, new Float64Array(region))
  }

  function define(thread: string, { name, labels, custom, slot }: SeriesDefinition): void {
    const values = regions.get(thread)
    if (values !== undefined) seriesOf(name, labels, custom).sources.push({ thread, values, slot })
  }

  function retire(thread: string): void {
    regions.delete(thread)
    for (const [name, seriesByKey] of seriesByFamily) {
      for (const [key, series] of seriesByKey) {
        const gone = series.sources.filter((source) => source.thread === thread)
        if (gone.length === 0) continue
        series.sources = series.sources.filter((source) => source.thread !== thread)
        if (familyOf(name).type !== 'gauge') addTo(series.base, gone)
        else if (series.sources.length === 0 && series.read === null) seriesByKey.delete(key)
      }
    }
  }

  function provide<N extends CounterName | GaugeName>(name: N, labels: LabelValues<N>, read: () => number): void {
    seriesOf(name, labels, null).read = read
  }

  function provideAll<N extends GaugeName>(name: N, read: () => Iterable<readonly [LabelValues<N>, number]>): void {
    readersByFamily.set(name, read)
  }

  function seriesOf(name: FamilyName, labels: readonly string[], custom: CustomLabels | null): Series {
    const seriesByKey = seriesByFamily.get(name)!
    const key = seriesKey(name, labels, custom)
    let series = seriesByKey.get(key)
    if (series === undefined) {
      const base = new Float64Array(slotCount(familyOf(name)))
      const names = [...familyOf(name).labels, ...(custom?.names ?? [])]
      series = { labels: labelText(names, [...labels, ...(custom?.values ?? [])]), base, sources: [], read: null }
      seriesByKey.set(key, series)
    }
    return series
  }

  function* render(): Iterable<string> {
    let text = ''
    for (const [name, seriesByKey] of seriesByFamily) {
      const others = [...(readersByFamily.get(name)?.() ?? [])]
      if (seriesByKey.size === 0 && others.length === 0) continue
      const { type, help, buckets, labels } = familyOf(name)
      const shown = exposedName(name)
      text += `# HELP ${shown} ${escapeHelp(help)}\n# TYPE ${shown} ${type}\n`
      for (const [values, value] of others) text += sample(shown, labelText(labels, values), value)
      for (const series of seriesByKey.values()) {
        text +=
          buckets === undefined ? sample(shown, series.labels, valueOf(series)) : histogramText(shown, series, buckets)
        if (text.length < PIECE_LENGTH) continue
        yield text
        text = ''
      }
    }
    yield text
  }
}

interface Series {
  /** `name="value",...`, escaped. */
  labels: string
  /** What threads that are gone have counted. */
  base: Float64Array
  sources: { thread: string; values: Float64Array; slot: number }[]
  read: (() => number) | null
}

const PIECE_LENGTH = 32 * 1024

function addTo(totals: Float64Array, sources: Series['sources']): void {
  for (const { values, slot } of sources) {
    for (let i = 0; i < totals.length; i += 1) totals[i]! += values[slot + i]!
  }
}

function valueOf({ base, sources, read }: Series): number {
  let total = base[0]! + (read === null ? 0 : read())
  for (const { values, slot } of sources) total += values[slot]!
  return total
}

function histogramText(name: string, { labels, base, sources }: Series, buckets: readonly number[]): string {
  const totals = base.slice()
  addTo(totals, sources)
  const comma = labels === '' ? '' : ','
  let text = ''
  let count = 0
  for (let i = 0; i <= buckets.length; i += 1) {
    count += totals[i]!
    text += sample(`${name}_bucket`, `${labels}${comma}le="${buckets[i] ?? '+Inf'}"`, count)
  }
  return text + sample(`${name}_sum`, labels, totals[buckets.length + 1]!) + sample(`${name}_count`, labels, count)
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
