import type { RouteCandidate } from './candidate.ts'
import type { Rejection } from './lacks.ts'
import type { RoutableRequest } from './request.ts'
import { type RouteLookup, type RoutesChange, RouteTable, type TableEntry } from './route-table.ts'

/**
 * The routes of a listener of which some delegate to others. A request is matched level by level: when a route that
 * delegates wins, only the routes within it are compared. If none of them matches, the request has no route, so that
 * it never reaches a route outside.
 */
class DelegatingTable<T> implements RouteLookup<T> {
  /** Routes that are within no other. */
  readonly #roots: RouteTable<T>
  /** By the key of each route that delegates, the routes within it. */
  readonly #within: ReadonlyMap<string, RouteTable<T>>
  /** By the key of each route within another, the key of that other one. */
  readonly #parents: ReadonlyMap<string, string>

  constructor(roots: RouteTable<T>, within: ReadonlyMap<string, RouteTable<T>>, parents: ReadonlyMap<string, string>) {
    this.#roots = roots
    this.#within = within
    this.#parents = parents
  }

  find(request: RoutableRequest): RouteCandidate<T> | null {
    let found = this.#roots.find(request)
    for (;;) {
      const next = found === null ? undefined : this.#within.get(found.routeKey)
      if (next === undefined) return found
      found = next.find(request)
    }
  }

  explain(request: RoutableRequest): { found: RouteCandidate<T> | null; evaluated: string[]; rejected: Rejection[] } {
    let explained = this.#roots.explain(request)
    const evaluated = [...explained.evaluated]
    for (;;) {
      const next = explained.found === null ? undefined : this.#within.get(explained.found.routeKey)
      if (next === undefined) return { ...explained, evaluated }
      explained = next.explain(request)
      evaluated.push(...explained.evaluated)
    }
  }

  /** Returns the changed table. Added routes that delegate need a table made anew. */
  after({ gone, came, order }: RoutesChange<T>): DelegatingTable<T> {
    const goneByParent = Map.groupBy(gone, (key) => this.#parents.get(key))
    const cameByParent = Map.groupBy(came, ({ route }) => route.within)
    const next = (table: RouteTable<T>, parent: string | undefined): RouteTable<T> => {
      const [lost = [], made = []] = [goneByParent.get(parent), cameByParent.get(parent)]
      return lost.length + made.length === 0 ? table : table.after({ gone: lost, came: made, order })
    }
    const isGone = new Set(gone)
    const left = [...this.#within].filter(([key]) => !isGone.has(key))
    return new DelegatingTable(
      next(this.#roots, undefined),
      new Map(left.map(([key, table]) => [key, next(table, key)])),
      new Map([...[...this.#parents].filter(([key]) => !isGone.has(key)), ...parentsOf(came)]),
    )
  }
}

/** Creates the table of a listener with routes that delegate. */
export function createDelegatingTable<T>(entries: readonly TableEntry<T>[]): RouteLookup<T> {
  const byParent = Map.groupBy(entries, ({ route }) => route.within)
  const within = entries
    .filter(({ route }) => route.delegates === true)
    .map(({ route: { key } }) => [key, RouteTable.of(byParent.get(key) ?? [])] as const)
  return new DelegatingTable(RouteTable.of(byParent.get(undefined) ?? []), new Map(within), new Map(parentsOf(entries)))
}

function parentsOf<T>(entries: readonly TableEntry<T>[]): [string, string][] {
  return entries.flatMap(({ route: { key, within } }) => (within === undefined ? [] : [[key, within]]))
}
