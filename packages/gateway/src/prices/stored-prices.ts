import { KeyTable, PRICE } from '../keys/table/key-table.ts'
import type { ModelPriceConfig } from '../schema/fields/prices.ts'
import { PriceList } from './price-list.ts'

/** The prices of the store, as one worker has read them from shared memory. */
class StoredPrices {
  readonly #table: KeyTable
  #changes: number | null = null
  #list: PriceList | null = null

  constructor(buffer: SharedArrayBuffer) {
    this.#table = new KeyTable(buffer)
  }

  /** The list of prices; null while the store cannot be read. */
  get list(): PriceList | null {
    const changes = this.#table.prices
    if (changes === this.#changes) return this.#list
    const list = this.#table.hasPrices ? this.#read() : null
    // A price that changed during the read makes the next call read the prices again.
    if (changes === this.#table.prices) [this.#changes, this.#list] = [changes, list]
    return list
  }

  #read(): PriceList {
    const all = this.#table.all(PRICE).map((text) => JSON.parse(text) as PriceEntry)
    return new PriceList(
      all.map(({ price }) => price),
      (index) => `store, changed ${all[index]?.changed ?? ''}`,
    )
  }
}

/** The content of a price's entry in the table. */
interface PriceEntry {
  readonly price: ModelPriceConfig
  readonly changed: string
}

/** Returns the prices of a table, which all providers in a worker share. */
export function storedPrices(table: SharedArrayBuffer): StoredPrices {
  const known = TABLES.get(table)
  if (known !== undefined) return known
  const prices = new StoredPrices(table)
  TABLES.set(table, prices)
  return prices
}

const TABLES = new WeakMap<SharedArrayBuffer, StoredPrices>()
