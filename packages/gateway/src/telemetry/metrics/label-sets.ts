import { type CustomLabels, MOST_LABEL_SETS } from './metrics.ts'

/** The labels that all requests of a route share; `route` is `unknown` for requests without a route. */
export interface RouteLabels {
  bind: string
  gateway: string
  listener: string
  route: string
  backends: readonly { name: string; protocol: string }[]
}

/** Assigns ids to the sets of values of the labels that a config adds. */
export interface LabelSets {
  /** Returns the id of a set, from 1; 0 when there are too many sets. */
  idOf(values: readonly string[]): number
  labels(id: number): CustomLabels
}

/**
 * Creates the sets of added labels. Their number is bounded, because values come from requests, and each set makes a series
 * in every family until the worker ends. `onFull` is called once, for the first set beyond the bound.
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
