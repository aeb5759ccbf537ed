import { families, familyOf, slotCount } from './families.ts'
import type { CounterName, FamilyName, GaugeName, HistogramName, LabelValues } from './families.ts'

/** Tells the main thread where in the region of this thread a series lives. */
export interface SeriesDefinition {
  name: FamilyName
  labels: readonly string[]
  /** Labels that a config adds to those of the family. */
  custom: CustomLabels | null
  slot: number
}

export interface CustomLabels {
  readonly names: readonly string[]
  readonly values: readonly string[]
}

/** Metrics of one thread. Only this thread writes, so recording is a plain addition and needs no atomics. */
export interface Registry {
  readonly values: Float64Array
  /** First slot of a series, made on first use. For hot paths: `values[slot] += 1`. */
  slot<N extends FamilyName>(name: N, labels: LabelValues<N>, custom?: CustomLabels | null): number
  counter<N extends CounterName>(name: N, labels: LabelValues<N>): Counter
  gauge<N extends GaugeName>(name: N, labels: LabelValues<N>): Gauge
  histogram<N extends HistogramName>(name: N, labels: LabelValues<N>): Histogram
}

export interface Counter {
  inc(by?: number): void
}

export interface Gauge {
  set(value: number): void
  add(by: number): void
}

export interface Histogram {
  observe(value: number): void
}

export interface RegistryOptions {
  /** From `createRegion`, shared with the main thread. */
  region: SharedArrayBuffer
  announce: (definition: SeriesDefinition) => void
  maxSeries?: number
}

/** Reserved, not used: the system gives memory only to the pages that are touched. A growable buffer would be ten times slower to write to. */
export function createRegion(byteLength = 8 * 1024 * 1024): SharedArrayBuffer {
  return new SharedArrayBuffer(byteLength)
}

export function createRegistry({ region, announce, maxSeries = 50_000 }: RegistryOptions): Registry {
  const values = new Float64Array(region)
  const slotsByKey = new Map<string, number>()
  const overflowSlots = new Map<FamilyName, number>()
  // Every family can always have its overflow series.
  const limit = values.length - OVERFLOW_SLOTS
  if (limit < 0) throw new RangeError(`a metrics region needs at least ${OVERFLOW_SLOTS * 8} bytes`)
  let used = 0

  return {
    values,
    slot,
    counter(name, labels) {
      const at = slot(name, labels)
      return {
        inc: (by = 1) => {
          values[at]! += by
        },
      }
    },
    gauge(name, labels) {
      const at = slot(name, labels)
      return {
        set: (value) => {
          values[at] = value
        },
        add: (by) => {
          values[at]! += by
        },
      }
    },
    histogram(name, labels) {
      const at = slot(name, labels)
      const { buckets } = families[name]
      return { observe: (value) => observe(values, at, buckets, value) }
    },
  }

  function slot<N extends FamilyName>(name: N, labels: LabelValues<N>, custom: CustomLabels | null = null): number {
    const key = seriesKey(name, labels, custom)
    const known = slotsByKey.get(key)
    if (known !== undefined) return known
    const size = slotCount(familyOf(name))
    if (slotsByKey.size >= maxSeries || used + size > limit) return overflowSlot(name)
    const made = define({ name, labels, custom }, size)
    slotsByKey.set(key, made)
    return made
  }

  function overflowSlot(name: FamilyName): number {
    const family = familyOf(name)
    if (name !== 'metrics_overflow_total') values[overflowSlot('metrics_overflow_total')]! += 1
    let at = overflowSlots.get(name)
    if (at === undefined) {
      const labels = Array<string>(family.labels.length).fill('overflow')
      at = define({ name, labels, custom: null }, slotCount(family))
      overflowSlots.set(name, at)
    }
    return at
  }

  function define(series: Omit<SeriesDefinition, 'slot'>, size: number): number {
    const at = used
    used += size
    announce({ ...series, slot: at })
    return at
  }
}

/** Adds one observation to the histogram whose slots begin at `slot`. */
export function observe(values: Float64Array, slot: number, buckets: readonly number[], value: number): void {
  let bucket = 0
  while (bucket < buckets.length && value > buckets[bucket]!) bucket += 1
  values[slot + bucket]! += 1
  values[slot + buckets.length + 1]! += value
}

/** Names of added labels belong to it: under other names it is another series, whatever the values. */
export function seriesKey(name: FamilyName, labels: readonly string[], custom: CustomLabels | null): string {
  return name + JSON.stringify(labels) + (custom === null ? '' : JSON.stringify([custom.names, custom.values]))
}

const OVERFLOW_SLOTS = Object.values(families).reduce((total, family) => total + slotCount(family), 0)
