import type { IrIndex } from '../ir/affected.ts'
import type { AttachedPolicy, Route, RouteBackend } from '../ir/resources.ts'
import type { SharedCells, SharedCounters } from '../upstream/shared-counters.ts'
import type { KeyedTables } from '../state/keyed-tables.ts'

/** Room for what workers share, and whether anybody has asked for some. */
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
}

/** Routes that differ in nothing but their names and matches: where one can run, the others can. */
export class AlikeRoutes {
  readonly #index: IrIndex
  readonly #room: WatchedRoom
  readonly #runnable = new Set<string>()

  constructor(index: IrIndex, room: WatchedRoom) {
    this.#index = index
    this.#room = room
  }

  /** Makes a route, unless one like it could be made; `make` says whether it could. One that needs room of its own is like no other. */
  check(route: Route, make: () => boolean): void {
    const kind = this.#kindOf(route)
    if (kind !== null && this.#runnable.has(kind)) return
    const before = this.#room.asked
    const isMade = make()
    if (isMade && kind !== null && this.#room.asked === before) this.#runnable.add(kind)
  }

  /** All that a route is made of, but for what it is called; null where that cannot be told from here. */
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
