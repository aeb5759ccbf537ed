/** Returns the identity of an item in its list; undefined for an item without one. */
export type IdOf = (item: unknown) => string | undefined

/**
 * Sorts the items that `order` names; other items keep their order, and stay before the first named item that followed
 * them.
 */
export function orderedAs(
  items: readonly unknown[],
  order: readonly unknown[],
  was: readonly unknown[],
  idOf: IdOf,
): unknown[] {
  const rankById = ranks(order, idOf)
  const placeById = ranks(was, idOf)
  const rank = (item: unknown): number | undefined => rankById.get(idOf(item) ?? '')
  const place = (item: unknown): number | undefined => placeById.get(idOf(item) ?? '')
  const named = items.filter((item) => rank(item) !== undefined).toSorted((a, b) => (rank(a) ?? 0) - (rank(b) ?? 0))
  const others = items.filter((item) => rank(item) === undefined)
  const all: unknown[] = []
  let next = 0
  for (const item of named) {
    while (next < others.length && isBefore(place(others[next]), place(item))) all.push(others[next++])
    all.push(item)
  }
  return [...all, ...others.slice(next)]
}

/** Whether an item stood before another; new items have no position. */
function isBefore(place: number | undefined, other: number | undefined): boolean {
  return place !== undefined && other !== undefined && place < other
}

/** The position of each id; the first item with an id counts. */
function ranks(items: readonly unknown[], idOf: IdOf): Map<string, number> {
  const rankById = new Map<string, number>()
  for (const [rank, item] of items.entries()) {
    const id = idOf(item)
    if (id !== undefined && !rankById.has(id)) rankById.set(id, rank)
  }
  return rankById
}
