/** Returns names similar to a misspelled one, the closest first. */
export function nearNames(wanted: string, names: readonly string[]): string[] {
  const most = Math.max(1, Math.floor(wanted.length / 3))
  return names
    .map((name) => ({ name, distance: isPart(name, wanted) ? 1 : distance(wanted, name) }))
    .filter((each) => each.distance <= most)
    .toSorted((one, other) => one.distance - other.distance || (one.name < other.name ? -1 : 1))
    .map(({ name }) => name)
    .slice(0, 3)
}

/** Whether one name is a large part of the other. */
function isPart(one: string, other: string): boolean {
  const [short, long] = one.length < other.length ? [one, other] : [other, one]
  return short.length > 2 && long.includes(short)
}

/** The number of letters to insert, delete or replace. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [at, letter] of from.split('').entries()) {
    const next = [at + 1]
    for (const [index, other] of to.split('').entries()) {
      const [above = 0, before = 0, corner = 0] = [row[index + 1], next[index], row[index]]
      next.push(Math.min(above + 1, before + 1, corner + (letter === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
