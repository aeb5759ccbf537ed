/** The known name that was most likely meant, or null when none is near enough. */
export function nearest(name: string, known: Iterable<string>): string | null {
  const wanted = name.toLowerCase()
  const limit = Math.max(1, Math.min(4, Math.floor(name.length / 3)))
  let best: string | null = null
  let bestDistance = limit + 1
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue
    const distance = editDistance(wanted, candidate.toLowerCase())
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** Insertions, deletions, replacements and swaps of neighbours, each counting one. */
export function editDistance(a: string, b: string): number {
  let twoBack: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    let left = i
    for (const [j, above] of previous.slice(1).entries()) {
      const isSame = a[i - 1] === b[j]
      const isSwap = j > 0 && a[i - 1] === b[j - 1] && a[i - 2] === b[j]
      left = Math.min(
        above + 1,
        left + 1,
        at(previous, j) + (isSame ? 0 : 1),
        isSwap ? at(twoBack, j - 1) + 1 : Infinity,
      )
      row.push(left)
    }
    twoBack = previous
    previous = row
  }
  return at(previous, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity
}

export function didYouMean(name: string, known: Iterable<string>): string | null {
  const match = nearest(name, known)
  return match === null ? null : `did you mean \`${match}\`?`
}
