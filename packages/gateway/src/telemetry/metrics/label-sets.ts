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
  const other = names.map(() => 'other')
  const sets: CustomLabels[] = [{ names, values: other }]
  const ids = new Map<string, number>()
  let isFull = false
  return {
    idOf(values) {
      const key = values.length === 1 ? values[0]! : JSON.stringify(values)
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
    labels: (id) => sets[id]!,
  }
}
