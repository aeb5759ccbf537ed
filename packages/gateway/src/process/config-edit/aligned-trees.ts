import { isObject } from '@portico/http/json'
import type { Path } from '../../schema/problem.ts'

/** Maps the paths of an edited config to the paths of the same parts before the edit. */
export class AlignedTrees {
  readonly #origins = new Map<string, Path>()

  /**
   * Members of mappings are matched by key, items of lists by name, then by content, then by position. In texts with
   * redacted secrets equal items may differ: `areTwinsEqual` is false, and equal items are not matched when ambiguous.
   */
  constructor(before: unknown, after: unknown, areTwinsEqual: boolean) {
    this.#walk([], before, [], after, areTwinsEqual)
  }

  /** The path before the edit; null for a new part. */
  origin(path: Path): Path | null {
    return this.#origins.get(JSON.stringify(path)) ?? null
  }

  #walk(from: Path, before: unknown, to: Path, after: unknown, areTwinsEqual: boolean): void {
    this.#origins.set(JSON.stringify(to), from)
    if (Array.isArray(before) && Array.isArray(after)) {
      for (const [index, origin] of alignLists(before, after, areTwinsEqual).entries())
        if (origin !== null) this.#walk([...from, origin], before[origin], [...to, index], after[index], areTwinsEqual)
    } else if (isObject(before) && isObject(after)) {
      for (const [key, value] of Object.entries(after))
        if (Object.hasOwn(before, key)) this.#walk([...from, key], before[key], [...to, key], value, areTwinsEqual)
    }
  }
}

/** The index in the first list for each item of the second; null for a new or ambiguous item. */
function alignLists(before: readonly unknown[], after: readonly unknown[], areTwinsEqual: boolean): (number | null)[] {
  const matching = new Matching(before.length, after.length)
  const names = uniquePlaces(before.map(nameOf))
  for (const [name, at] of uniquePlaces(after.map(nameOf))) {
    const origin = names.get(name)
    if (origin !== undefined) matching.take(at, origin)
  }
  const contents = Map.groupBy(matching.freeBefore(), (at) => JSON.stringify(before[at]))
  for (const [content, places] of Map.groupBy(matching.freeAfter(), (at) => JSON.stringify(after[at]))) {
    const origins = contents.get(content) ?? []
    const isClear = areTwinsEqual || origins.length === places.length
    if (isClear) for (const [i, at] of places.entries()) matching.take(at, origins[i])
    else if (origins.length > 0) matching.giveUp(places, origins)
  }
  const likeness = new Likeness(before, after)
  matching.takeByPlace((at, origin) => likeness.isNearest(at, origin))
  return matching.origins
}

/** Compares items of two lists by the scalars that they share. */
class Likeness {
  readonly #before: readonly unknown[]
  readonly #after: readonly unknown[]

  constructor(before: readonly unknown[], after: readonly unknown[]) {
    this.#before = before
    this.#after = after
  }

  /** Whether no unmatched item of the first list is more similar to the item at `at` than the one at `origin`. */
  isNearest(at: number, origin: number): boolean {
    const parts = new Set(partsOf(this.#after[at]))
    const common = (item: unknown): number => partsOf(item).filter((part) => parts.has(part)).length
    const own = common(this.#before[origin])
    return this.#before.every((item) => common(item) <= own)
  }
}

/** The scalars of an item, each after its path. */
function partsOf(item: unknown, path = ''): string[] {
  if (typeof item !== 'object' || item === null) return [`${path} ${JSON.stringify(item)}`]
  return Object.entries(item).flatMap(([key, child]) => partsOf(child, `${path}/${key}`))
}

/** The matches between two lists that were found so far. */
class Matching {
  readonly origins: (number | null)[]
  readonly #taken = new Set<number>()
  /** Items whose origin is ambiguous. */
  readonly #lost = new Set<number>()
  readonly #before: number

  constructor(before: number, after: number) {
    this.#before = before
    this.origins = Array.from({ length: after }, () => null)
  }

  take(at: number, origin: number | undefined): void {
    if (origin === undefined) return
    this.origins[at] = origin
    this.#taken.add(origin)
  }

  giveUp(places: readonly number[], origins: readonly number[]): void {
    for (const at of places) this.#lost.add(at)
    for (const origin of origins) this.#taken.add(origin)
  }

  freeBefore(): number[] {
    return Array.from({ length: this.#before }, (_, at) => at).filter((at) => !this.#taken.has(at))
  }

  freeAfter(): number[] {
    return this.origins.flatMap((origin, at) => (origin === null && !this.#lost.has(at) ? [at] : []))
  }

  /** Matches the remaining items: a single item on each side is the same item, changed; several match by position if nothing moved. */
  takeByPlace(isLikely: (at: number, origin: number) => boolean): void {
    const [before, after] = [this.freeBefore(), this.freeAfter()]
    if (after.length > MOST_CHANGED) return
    const takeLikely = (at: number, origin: number): void => {
      if (isLikely(at, origin)) this.take(at, origin)
    }
    if (before.length === 1 && after.length === 1) return takeLikely(after[0] ?? 0, before[0] ?? 0)
    const isStill =
      this.#lost.size === 0 &&
      this.#before === this.origins.length &&
      this.origins.every((origin, at) => origin === null || origin === at)
    if (isStill) for (const at of after) takeLikely(at, at)
  }
}

/** With more changed items than this in one list, the rest is not matched. */
const MOST_CHANGED = 100

/** The name or port that identifies an item of a list; null when it has none. */
function nameOf(item: unknown): string | null {
  if (!isObject(item)) return null
  if (typeof item['name'] === 'string') return `name ${item['name']}`
  const port = item['port']
  return typeof port === 'number' || typeof port === 'string' ? `port ${port}` : null
}

/** The positions of the texts that occur exactly once. */
function uniquePlaces(texts: readonly (string | null)[]): Map<string, number> {
  const places = Map.groupBy(texts.keys(), (at) => texts[at] ?? '')
  places.delete('')
  return new Map([...places].flatMap(([text, [first = 0, ...others]]) => (others.length === 0 ? [[text, first]] : [])))
}
