import type { ModelPriceConfig } from '../schema/fields/prices.ts'
import type { StoredPrice } from '../stores/key-store.ts'
import { priceHash, priceText } from './table/entry-text.ts'
import { KeyProblem } from './key-problem.ts'
import { PRICE } from './table/key-table.ts'
import { NO_ROOM, prepareAgain, type RegistryParts } from './registry-parts.ts'

/** Changes a price in the store, and then in the table that workers read. */
export class PriceRegistry {
  readonly #parts: RegistryParts

  constructor(parts: RegistryParts) {
    this.#parts = parts
  }

  /** Fills the table of the workers from the store; throws when the table has no room. */
  async load(): Promise<void> {
    const { store, table } = this.#parts
    for (const price of await store.prices()) if (!this.#publish(price)) throw new Error(NO_ROOM)
    table.pricesChanged()
  }

  /**
   * Writes price changes of other gateways to the table of the workers; returns whether the table had room for all of
   * them.
   */
  receive(prices: ReadonlyMap<string, StoredPrice | null>): boolean {
    for (const [name, price] of prices) if (price === null) this.#withdraw(name)
    const isPut = [...prices.values()].map((price) => price === null || this.#publish(price))
    if (prices.size > 0) this.#parts.table.pricesChanged()
    return isPut.every(Boolean)
  }

  /** Sets the price of a model, or removes the price with null. */
  change(name: string, price: ModelPriceConfig | null, by: string): Promise<StoredPrice | null> {
    return prepareAgain(this.#parts.store, (version) => this.#change(name, price, { by, version }))
  }

  async #change(
    name: string,
    price: ModelPriceConfig | null,
    { by, version }: { by: string; version: number },
  ): Promise<StoredPrice | null> {
    const { store, table, now } = this.#parts
    const prices = await store.prices()
    const before = prices.find((each) => each.name === name) ?? null
    if (before === null && price === null) throw new KeyProblem(404, `the store has no price for ${name}`)
    if (before === null && prices.length >= MOST_PRICES) {
      throw new KeyProblem(409, `the store has ${MOST_PRICES} prices: remove some, or use \`prices.file\``)
    }
    const at = new Date(now()).toISOString()
    const after = price === null ? null : { name, price, changed: at }
    if (after !== null && !table.hasRoom(before === null ? 1 : 0, priceText(after).length)) {
      throw new KeyProblem(409, NO_ROOM)
    }
    const action = after === null ? 'delete' : before === null ? 'create' : 'change'
    await store.commit(
      { kind: 'price', name, to: after },
      { at, by, action, kind: 'price', name, before, after },
      version,
    )
    if (after === null) this.#withdraw(name)
    else this.#publish(after)
    table.pricesChanged()
    return after
  }

  #publish(price: StoredPrice): boolean {
    return this.#parts.table.put(PRICE, priceHash(price.name), priceText(price))
  }

  #withdraw(name: string): void {
    this.#parts.table.remove(PRICE, priceHash(name))
  }
}

/** The largest number of prices in the store; workers read all prices after each change. */
const MOST_PRICES = 1_000
