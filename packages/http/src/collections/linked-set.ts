/** The links of an item of a `LinkedSet`; an item is in at most one set at a time. */
export interface Links<Item> {
  before: Item | null
  after: Item | null
  isListed: boolean
}

/**
 * A set in the order of insertion whose items hold the links. For sets whose items come and go with each request: V8
 * gives a `Set` or `Map` a new table after some insertions, and links the old table to the new one. Once one table of
 * such a chain is in old memory, as after each full collection, the minor collections keep all later tables and their
 * items.
 */
export class LinkedSet<Item extends Links<Item>> {
  #first: Item | null = null
  #last: Item | null = null
  #size = 0

  get first(): Item | null {
    return this.#first
  }

  get size(): number {
    return this.#size
  }

  /** Adds an item at the end, unless it is in the set. */
  add(item: Item): void {
    if (item.isListed) return
    item.isListed = true
    const last = this.#last
    item.before = last
    if (last === null) this.#first = item
    else last.after = item
    this.#last = item
    this.#size++
  }

  /** Removes an item, if it is in the set. */
  delete(item: Item): void {
    if (!item.isListed) return
    const { before, after } = item
    if (before === null) this.#first = after
    else before.after = after
    if (after === null) this.#last = before
    else after.before = before
    // An item that lives on must not keep its former neighbours.
    item.isListed = false
    item.before = null
    item.after = null
    this.#size--
  }

  /** Returns the items, for loops that may change the set. */
  list(): Item[] {
    const items: Item[] = []
    for (let item = this.#first; item !== null; item = item.after) items.push(item)
    return items
  }
}
