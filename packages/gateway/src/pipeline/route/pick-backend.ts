/** Returns the index of a backend for a random number in [0, 1); `wanted` wins if its weight is above zero. */
export type PickBackend = (random: number, wanted?: number) => number

/** Picks in proportion to the weights; null when all weights are zero. */
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

/** Returns the index of the backend to call, or -1 without one; `sticky` names the backend of the client's session. */
export function pickBackend(
  { pick, backends }: { pick: PickBackend | null; backends: readonly { key: string }[] },
  sticky: { readonly backend: string } | null,
  random: () => number,
): number {
  if (pick === null) return -1
  if (backends.length === 1) return pick(0)
  if (sticky === null) return pick(random())
  return pick(
    random(),
    backends.findIndex(({ key }) => key === sticky.backend),
  )
}
