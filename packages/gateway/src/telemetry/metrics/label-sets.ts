import type { CustomLabels } from './metrics.ts'

/** Labels that are the same for every request of a route. Requests that found no route have one with `route: 'unknown'`. */
export interface RouteLabels {
  bind: string
  gateway: string
  listener: string
  route: string
  backends: readonly { name: string; protocol: string }[]
}

/** The most sets of values that the added labels of one worker may have; also the largest number of one. */
export const MOST_LABEL_SETS = 1000

/** Numbers the sets of values that labels of a config have had. */
export interface LabelSets {
  /** From 1; 0 is the set that stands for all that found no room. */
  idOf(values: readonly string[]): number
  labels(id: number): CustomLabels
}

/**
 * Values come from requests, so that their number must have an end: each set is a series of every family, for as long
 * as the worker lives. `onFull` is called once, when the first set finds no room.
 */
export function createLabelSets(names: readonly string[], onFull: () => void): LabelSets {
  const other: CustomLabels = { names, values: names.map(() => 'other') }
  const sets = [other]
  const ids = new Map<string, number>()
  let isFull = false
  return {
    idOf(values) {
      const [first = ''] = values
      const key = values.length === 1 ? first : JSON.stringify(values)
      const known = ids.get(key)
      if (known !== undefined) return known
      if (ids.size < MOST_LABEL_SETS) {
        ids.set(key, sets.length)
        return sets.push({ names, values }) - 1
      }
      if (!isFull) onFull()
      isFull = true
      return 0
    },
    labels: (id) => sets[id] ?? other,
  }
}

/**
 * What is counted under sets of labels whose values come from requests. The bound holds for everything together: each
 * set is a series of several families, for as long as the worker lives.
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

export interface BoundedSeriesOptions<Labels, Series> {
  make: (labels: Labels, custom: CustomLabels | null) => Series
  /** The set that stands for one that finds no room. */
  asOther: (labels: Labels) => Labels
  /** Hears once that new sets find no room. */
  onFull: () => void
}

/** A text from outside as a label: empty ones, which Prometheus takes for no label, are `unknown`. */
export function labelText(text: string): string {
  if (text === '') return 'unknown'
  const short = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
  // Two values that are written alike would be one series twice, which no scraper accepts.
  return short.toWellFormed().replace(CONTROLS, '\ufffd')
}

const LONGEST = 128
// oxlint-disable-next-line no-control-regex
const CONTROLS = /[\0-\x1f\x7f-\x9f]/g
