/** Index of an entry for a random number in [0, 1), in proportion to the weights; null when nothing can be picked. */
export function weightedPicker(weights: readonly number[]): ((random: number) => number) | null {
  const indexes: number[] = []
  const upTo: number[] = []
  let total = 0
  weights.forEach((weight, index) => {
    if (weight <= 0) return
    total += weight
    indexes.push(index)
    upTo.push(total)
  })
  const last = indexes.length - 1
  const only = indexes[0]
  if (only === undefined) return null
  if (last === 0) return () => only
  return (random) => {
    const point = random * total
    let chosen = 0
    // The last entry takes what is left, so rounding can never fall off the end.
    while (chosen < last && point >= upTo[chosen]!) chosen++
    return indexes[chosen]!
  }
}
