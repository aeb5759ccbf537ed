import type { IrIndex } from '../ir/affected.ts'
import type { AttachedPolicy, Route, RouteBackend } from '../ir/resources.ts'
import type { SharedCells, SharedCounters } from '@portico/http/client'
import type { KeyedTables } from '../state/keyed-tables.ts'

/** Counts the requests for room in shared memory. */
export class WatchedRoom implements SharedCounters, KeyedTables {
  readonly #room: SharedCounters & KeyedTables
  asked = 0

  constructor(room: SharedCounters & KeyedTables) {
    this.#room = room
  }

  cells(key: string): SharedCells | null {
    this.asked++
    return this.#room.cells(key)
  }

  keyed(name: string, size: number): SharedArrayBuffer | null {
    this.asked++
    return this.#room.keyed(name, size)
  }

  keyTable(): SharedArrayBuffer | null {
    return this.#room.keyTable()
  }
}

/** Routes that differ only in names and matches: if one of them can run, the others can. */
export class AlikeRoutes {
  readonly #index: IrIndex
  readonly #room: WatchedRoom
  readonly #runnable = new Set<string>()

  constructor(index: IrIndex, room: WatchedRoom) {
    this.#index = index
    this.#room = room
  }

  /**
   * Compiles a route, unless an equal route could be compiled; `make` returns whether it could. A route that needs its
   * own room equals no other.
   */
  check(route: Route, make: () => boolean): void {
    const kind = this.#kindOf(route)
    if (kind !== null && this.#runnable.has(kind)) return
    const before = this.#room.asked
    const isMade = make()
    if (isMade && kind !== null && this.#room.asked === before) this.#runnable.add(kind)
  }

  /** Everything that a route is compiled from, except its name; null when that is unknown here. */
  #kindOf({ listener, name, key, hostnames, backends }: Route): string | null {
    const { byTarget } = this.#index
    const entries = backends.map((entry) => this.#kindOfEntry(entry))
    if (entries.includes(null)) return null
    const general = byTarget.at('route', `${listener}/${name}`).map((policy) => policy.key)
    const own = byTarget.at('rule', key).map(contentOf)
    return JSON.stringify([listener, hostnames.some((hostname) => hostname !== '*'), general, own, entries])
  }

  #kindOfEntry({ key, backend, weight }: RouteBackend): unknown[] | null {
    const { byTarget, backendsByKey } = this.#index
    const own = byTarget.at('backend', key).map(contentOf)
    if (backend !== key) return [weight, own, backend]
    const target = backendsByKey.get(key)?.target
    // Others have parts with policies of their own.
    return target?.kind === 'static' || target?.kind === 'unix' ? [weight, own, target] : null
  }
}

function contentOf({ phase, traffic, backend }: AttachedPolicy): unknown[] {
  return [phase, traffic, backend]
}
