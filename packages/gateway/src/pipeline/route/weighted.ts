/** The index for a number in [0, 1): the one that is wanted, if it may be picked at all. */
export type PickBackend = (random: number, wanted?: number) => number

/** Index of an entry for a random number in [0, 1), in proportion to the weights; null when nothing can be picked. */
export function weightedPicker(weights: readonly number[]): PickBackend | null {
  const shares: { index: number; upTo: number }[] = []
  let total = 0
  weights.forEach((weight, index) => {
    if (weight <= 0) return
    total += weight
    shares.push({ index, upTo: total })
  })
  const last = shares.at(-1)
  if (last === undefined) return null
  if (shares.length === 1) return () => last.index
  return (random, wanted) => {
    if (wanted !== undefined && shares.some(({ index }) => index === wanted)) return wanted
    const point = random * total
    for (const { index, upTo } of shares) if (point < upTo) return index
    // The last entry takes what is left, so rounding can never fall off the end.
    return last.index
  }
}
