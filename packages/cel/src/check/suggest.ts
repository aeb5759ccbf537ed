const MAX_CANDIDATES = 500

/** Returns the known name that is closest to a misspelled one, if one is close enough. */
export function suggest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.min(3, Math.ceil(name.length / 2))
  let left = MAX_CANDIDATES
  for (const candidate of known) {
    if (left-- === 0) break
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue
    const distance = candidate.toLowerCase() === name.toLowerCase() ? 0.5 : editDistance(name, candidate)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

/** The number of characters to insert, remove, replace or swap. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1
      let distance = Math.min(at(row, j - 1) + 1, at(last, j) + 1, at(last, j - 1) + cost)
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (isSwap) distance = Math.min(distance, at(beforeLast, j - 2) + 1)
      row.push(distance)
    }
    beforeLast = last
    last = row
  }
  return at(last, b.length)
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity
}
