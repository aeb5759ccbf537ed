import {
  type CounterName,
  families,
  type FamilyName,
  familyOf,
  type GaugeName,
  type HistogramName,
  type LabelValues,
  slotCount,
} from './families.ts'

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

/** Metrics of one thread. Only this thread writes, so recording is a plain addition and needs no atomics. */
export class Registry {
  readonly values: Float64Array
  readonly #announce: (definition: SeriesDefinition) => void
  readonly #maxSeries: number
  readonly #slotsByKey = new Map<string, number>()
  readonly #overflowSlots = new Map<FamilyName, number>()
  #used = 0

  constructor({ region, announce, maxSeries = 50_000 }: RegistryOptions) {
    this.values = new Float64Array(region)
    this.#announce = announce
    this.#maxSeries = maxSeries
    if (this.#limit < 0) throw new RangeError(`a metrics region needs at least ${OVERFLOW_SLOTS * 8} bytes`)
  }

  /** First slot of a series, made on first use. For hot paths: `increase(values, slot, 1)`. */
  slot<N extends FamilyName>(name: N, labels: LabelValues<N>, custom: CustomLabels | null = null): number {
    const key = seriesKey(name, labels, custom)
    const known = this.#slotsByKey.get(key)
    if (known !== undefined) return known
    const size = slotCount(familyOf(name))
    if (this.#slotsByKey.size >= this.#maxSeries || this.#used + size > this.#limit) return this.#overflowSlot(name)
    const made = this.#define({ name, labels, custom }, size)
    this.#slotsByKey.set(key, made)
    return made
  }

  counter<N extends CounterName>(name: N, labels: LabelValues<N>): Counter {
    const { values } = this
    const slot = this.slot(name, labels)
    return { inc: (by = 1) => increase(values, slot, by) }
  }

  gauge<N extends GaugeName>(name: N, labels: LabelValues<N>): Gauge {
    const { values } = this
    const slot = this.slot(name, labels)
    return {
      set(value) {
        values[slot] = value
      },
      add: (by) => increase(values, slot, by),
    }
  }

  histogram<N extends HistogramName>(name: N, labels: LabelValues<N>): Histogram {
    const { values } = this
    const slot = this.slot(name, labels)
    const { buckets } = families[name]
    return { observe: (value) => observe(values, slot, buckets, value) }
  }

  /** Every family can always have its overflow series. */
  get #limit(): number {
    return this.values.length - OVERFLOW_SLOTS
  }

  #overflowSlot(name: FamilyName): number {
    const family = familyOf(name)
    if (name !== 'metrics_overflow_total') increase(this.values, this.#overflowSlot('metrics_overflow_total'), 1)
    let slot = this.#overflowSlots.get(name)
    if (slot === undefined) {
      const labels = Array<string>(family.labels.length).fill('overflow')
      slot = this.#define({ name, labels, custom: null }, slotCount(family))
      this.#overflowSlots.set(name, slot)
    }
    return slot
  }

  #define(series: Omit<SeriesDefinition, 'slot'>, size: number): number {
    const slot = this.#used
    this.#used += size
    this.#announce({ ...series, slot })
    return slot
  }
}

/** Adds to the value in a slot. */
export function increase(values: Float64Array, slot: number, by: number): void {
  values[slot] = (values[slot] ?? 0) + by
}

/** Adds one observation to the histogram whose slots begin at `slot`. */
export function observe(values: Float64Array, slot: number, buckets: readonly number[], value: number): void {
  let bucket = 0
  while (bucket < buckets.length && value > (buckets[bucket] ?? Infinity)) bucket += 1
  increase(values, slot + bucket, 1)
  increase(values, slot + buckets.length + 1, value)
}

/** Names of added labels belong to it: under other names it is another series, whatever the values. */
export function seriesKey(name: FamilyName, labels: readonly string[], custom: CustomLabels | null): string {
  return name + JSON.stringify(labels) + (custom === null ? '' : JSON.stringify([custom.names, custom.values]))
}

const OVERFLOW_SLOTS = Object.values(families).reduce((total, family) => total + slotCount(family), 0)
