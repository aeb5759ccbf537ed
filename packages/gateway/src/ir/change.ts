import type { Ir } from './resources.ts'

/** A resource, and the key of its predecessor in the list: null at the front. */
export interface Put<Resource> {
  resource: Resource
  after: string | null
}

export interface ListChange<Resource> {
  /** New, changed or moved resources, in the order of the new list. */
  put: Put<Resource>[]
  drop: string[]
}

/** The difference between two configs, by kind and key. */
export type IrChange = { [Kind in keyof Ir]: ListChange<Ir[Kind][number]> }

/** A config after a change: resources in both configs are the same objects. */
export interface ChangedIr {
  ir: Ir
  /** The added resources. */
  came: Ir
  /** The removed resources, including those that were replaced. */
  gone: Ir
}

export const EMPTY_IR: Ir = { binds: [], listeners: [], routes: [], backends: [], policies: [] }

/** The change between two configs; null when keys are not unique, in which case only the whole config can be sent. */
export function changeBetween(before: Ir, after: Ir): IrChange | null {
  const binds = listChange(before.binds, after.binds)
  const listeners = listChange(before.listeners, after.listeners)
  const routes = listChange(before.routes, after.routes)
  const backends = listChange(before.backends, after.backends)
  const policies = listChange(before.policies, after.policies)
  if (binds === null || listeners === null || routes === null || backends === null || policies === null) return null
  return { binds, listeners, routes, backends, policies }
}

export function applyChange(before: Ir, change: IrChange): ChangedIr {
  const binds = changedList(before.binds, change.binds)
  const listeners = changedList(before.listeners, change.listeners)
  const routes = changedList(before.routes, change.routes)
  const backends = changedList(before.backends, change.backends)
  const policies = changedList(before.policies, change.policies)
  const pick = <Part extends 'list' | 'came' | 'gone'>(part: Part): Ir => ({
    binds: binds[part],
    listeners: listeners[part],
    routes: routes[part],
    backends: backends[part],
    policies: policies[part],
  })
  return { ir: pick('list'), came: pick('came'), gone: pick('gone') }
}

interface KeyedResource {
  key: string
}

function listChange<R extends KeyedResource>(before: readonly R[], after: readonly R[]): ListChange<R> | null {
  if (before === after) return { put: [], drop: [] }
  // Usually only a few adjacent resources have changed: equal resources before and after them are skipped.
  let start = 0
  while (start < before.length && start < after.length && isEqual(before[start], after[start])) start++
  let end = 0
  const most = Math.min(before.length, after.length) - start
  while (end < most && isEqual(before[before.length - 1 - end], after[after.length - 1 - end])) end++
  const [old, now] = [before.slice(start, before.length - end), after.slice(start, after.length - end)]
  if (old.length === 0 && now.length === 0) return { put: [], drop: [] }
  const positions = new Map(old.map(({ key }, index) => [key, index]))
  const keys = new Set(now.map(({ key }) => key))
  if (keys.size < now.length || !isUnique(before)) return null
  const added = keys.difference(positions)
  if (added.size > 0 && before.some(({ key }) => added.has(key))) return null
  unique.add(after)
  /** The previous position of each unchanged resource; -1 for others. */
  const same = now.map((resource) => {
    const position = positions.get(resource.key)
    return position !== undefined && isEqual(old[position], resource) ? position : -1
  })
  const stays = longestRising(same)
  const put = now.flatMap((resource, index) =>
    stays.has(index) ? [] : [{ resource, after: after[start + index - 1]?.key ?? null }],
  )
  return { put, drop: [...positions.keys()].filter((key) => !keys.has(key)) }
}

/** Lists whose keys are known to be unique. Lists are never changed in place. */
const unique = new WeakSet<readonly KeyedResource[]>()

function isUnique(list: readonly KeyedResource[]): boolean {
  if (unique.has(list)) return true
  const isSo = new Set(list.map(({ key }) => key)).size === list.length
  if (isSo) unique.add(list)
  return isSo
}

/**
 * The indexes of a longest increasing subsequence: these resources stay in place and all others are moved. -1 is never
 * part of it.
 */
function longestRising(numbers: readonly number[]): Set<number> {
  /** The index of the smallest last number of an increasing sequence, by the length of the sequence minus one. */
  const ends: number[] = []
  const previous = new Map<number, number>()
  numbers.forEach((number, index) => {
    if (number < 0) return
    let at = ends.length
    if (at > 0 && numbers[ends[at - 1]!]! >= number) {
      let low = 0
      while (low < at) {
        const middle = (low + at) >> 1
        if (numbers[ends[middle]!]! < number) low = middle + 1
        else at = middle
      }
    }
    if (at > 0) previous.set(index, ends[at - 1]!)
    ends[at] = index
  })
  const found = new Set<number>()
  for (let index = ends.at(-1); index !== undefined; index = previous.get(index)) found.add(index)
  return found
}

function changedList<R extends KeyedResource>(
  before: R[],
  { put, drop }: ListChange<R>,
): { list: R[]; came: R[]; gone: R[] } {
  if (put.length === 0 && drop.length === 0) return { list: before, came: [], gone: [] }
  const keys = new Set([...drop, ...put.map(({ resource }) => resource.key)])
  const came = put.map(({ resource }) => resource)
  /** Runs of adjacent new resources, by the key of the resource before the run. */
  const runs = new Map<string | null, R[]>()
  let run: R[] = []
  for (const { resource, after } of put) {
    if (run.length === 0 || run.at(-1)!.key !== after) runs.set(after, (run = []))
    run.push(resource)
  }
  const list = [...(runs.get(null) ?? [])]
  const gone: R[] = []
  for (const resource of before) {
    if (keys.has(resource.key)) {
      gone.push(resource)
      continue
    }
    list.push(resource)
    const following = runs.get(resource.key)
    if (following !== undefined) for (const next of following) list.push(next)
  }
  return { list, came, gone }
}

/** Whether plain data is equal; the order of keys counts, because it may matter to a policy. */
function isEqual(one: unknown, other: unknown): boolean {
  if (one === other) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  if (Array.isArray(one) !== Array.isArray(other)) return false
  const keys = Object.keys(one)
  const others = Object.keys(other)
  if (keys.length !== others.length) return false
  for (const [index, key] of keys.entries()) {
    if (key !== others[index]) return false
    if (!isEqual((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key])) return false
  }
  return true
}
