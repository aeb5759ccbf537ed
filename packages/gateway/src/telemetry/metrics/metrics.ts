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

/** The position of a series in the shared region of its thread, sent to the main thread. */
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

interface Counter {
  inc(by?: number): void
}

interface Gauge {
  set(value: number): void
  add(by: number): void
}

interface Histogram {
  observe(value: number): void
}

interface RegistryOptions {
  /** From `createRegion`, shared with the main thread. */
  region: SharedArrayBuffer
  announce: (definition: SeriesDefinition) => void
  maxSeries?: number
}

/** Creates the shared memory of a thread. The system allocates only touched pages; a growable buffer would be ten times slower. */
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

  /** Returns the first slot of a series, made on first use. Hot paths call `increase(values, slot, 1)`. */
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

  /** The slots for normal series; the rest is reserved for one overflow series per family. */
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

/** Returns the key of a series, which includes the names of added labels. */
export function seriesKey(name: FamilyName, labels: readonly string[], custom: CustomLabels | null): string {
  return name + JSON.stringify(labels) + (custom === null ? '' : JSON.stringify([custom.names, custom.values]))
}

/** The most label sets of one worker whose values come from requests; also the largest id of a set. */
export const MOST_LABEL_SETS = 1000

/**
 * Series by labels whose values come from requests. The number of label sets is bounded, because each set makes a series in
 * several families until the worker ends.
 */
export class BoundedSeries<Labels extends readonly string[], Series> {
  readonly #options: BoundedSeriesOptions<Labels, Series>
  readonly #seriesByKey = new Map<string, Series>()
  readonly #otherSeriesByKey = new Map<string, Series>()
  #isFull = false

  constructor(options: BoundedSeriesOptions<Labels, Series>) {
    this.#options = options
  }

  of(labels: Labels, custom: CustomLabels | null): Series {
    const key = JSON.stringify([labels, custom])
    const known = this.#seriesByKey.get(key)
    if (known !== undefined) return known
    if (this.#seriesByKey.size < MOST_LABEL_SETS) return this.#make(this.#seriesByKey, key, labels, custom)
    if (!this.#isFull) this.#options.onFull()
    this.#isFull = true
    const others = this.#options.asOther(labels)
    const otherCustom = custom && { names: custom.names, values: custom.names.map(() => 'other') }
    const otherKey = JSON.stringify([others, otherCustom])
    const other = this.#otherSeriesByKey.get(otherKey)
    return other ?? this.#make(this.#otherSeriesByKey, otherKey, others, otherCustom)
  }

  #make(into: Map<string, Series>, key: string, labels: Labels, custom: CustomLabels | null): Series {
    const series = this.#options.make(labels, custom)
    into.set(key, series)
    return series
  }
}

interface BoundedSeriesOptions<Labels, Series> {
  make: (labels: Labels, custom: CustomLabels | null) => Series
  /** Returns the labels for a set beyond the bound. */
  asOther: (labels: Labels) => Labels
  /** Called once, for the first set beyond the bound. */
  onFull: () => void
}

/** Returns a label value for a text from a request; `unknown` for an empty text, which Prometheus reads as no label. */
export function labelText(text: string): string {
  if (text === '') return 'unknown'
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
  // Values that print alike would make duplicate series, which scrapers reject.
  return short.toWellFormed().replace(CONTROLS, '\ufffd')
}

const LONGEST = 128
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\0-\x1f\x7f-\x9f]/g

const OVERFLOW_SLOTS = Object.values(families).reduce((total, family) => total + slotCount(family), 0)
