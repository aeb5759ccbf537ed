import type { Ir } from '../../ir/resources.ts'
import type { EndpointsChange } from '@portico/http/client'

type Addresses = readonly (readonly [key: string, addresses: readonly string[]])[]

/** Addresses of Services. Sources send all of them or changes; workers get changes only. */
export class ReachedServices {
  readonly #tell: (change: EndpointsChange) => void
  readonly #addressesByKey = new Map<string, readonly string[]>()
  /** Services that the source has dropped: the live config may still need them. */
  readonly #left = new Set<string>()
  #live: Ir | null = null

  constructor(tell: (change: EndpointsChange) => void) {
    this.#tell = tell
  }

  /** Replaces all addresses, or those whose keys `isMeant` selects. */
  takeAll(addresses: Addresses, isMeant = (_key: string): boolean => true): void {
    const keys = new Set(addresses.map(([key]) => key))
    const drop = [...this.#addressesByKey.keys()].filter((key) => !keys.has(key) && isMeant(key))
    this.take({ put: addresses, drop })
  }

  take({ put, drop }: EndpointsChange): void {
    for (const key of drop) if (this.#addressesByKey.has(key)) this.#left.add(key)
    const changed = put.filter(([key, addresses]) => !isSame(this.#addressesByKey.get(key), addresses))
    for (const [key] of put) this.#left.delete(key)
    for (const [key, addresses] of changed) this.#addressesByKey.set(key, addresses)
    if (changed.length > 0) this.#tell({ put: changed, drop: [] })
    this.#dropUnneeded()
  }

  /** The Services of the source, without dropped ones. */
  all(): Addresses {
    return [...this.#addressesByKey].filter(([key]) => !this.#left.has(key))
  }

  /** Forgets dropped Services that the live config does not need. */
  wentLive(ir: Ir): void {
    this.#live = ir
    this.#dropUnneeded()
  }

  #dropUnneeded(): void {
    if (this.#left.size === 0 || this.#live === null) return
    const needed = new Set(this.#live.backends.map(({ key }) => key))
    const drop = [...this.#left].filter((key) => !needed.has(key))
    if (drop.length === 0) return
    for (const key of drop) {
      this.#left.delete(key)
      this.#addressesByKey.delete(key)
    }
    this.#tell({ put: [], drop })
  }
}

function isSame(known: readonly string[] | undefined, addresses: readonly string[]): boolean {
  return (
    known !== undefined &&
    known.length === addresses.length &&
    known.every((address, index) => address === addresses[index])
  )
}
