/** What an item is known by in its list; undefined for one that has no such thing. */
export type IdOf = (item: unknown) => string | undefined

/**
 * Items that `order` names, in that order; the others keep theirs, and stand before the first of the named ones that
 * they stood before.
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

/** What is new stands before nothing, and nothing before it. */
function isBefore(place: number | undefined, other: number | undefined): boolean {
  return place !== undefined && other !== undefined && place < other
}

/** Of several with one id the first counts. */
function ranks(items: readonly unknown[], idOf: IdOf): Map<string, number> {
  const rankById = new Map<string, number>()
  for (const [rank, item] of items.entries()) {
    const id = idOf(item)
    if (id !== undefined && !rankById.has(id)) rankById.set(id, rank)
  }
  return rankById
}
