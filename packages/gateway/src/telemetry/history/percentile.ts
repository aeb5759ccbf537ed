/** Estimates the value below which this share of observations lies, from histogram buckets; null without observations. */
export function percentile(counts: ArrayLike<number>, bounds: readonly number[], share: number): number | null {
  let all = 0
  for (let i = 0; i <= bounds.length; i++) all += counts[i] ?? 0
  if (all <= 0) return null
  const wanted = all * share
  let before = 0
  for (let i = 0; i < bounds.length; i++) {
    const own = counts[i] ?? 0
    if (before + own >= wanted && own > 0) {
      const [low, high] = [bounds[i - 1] ?? 0, bounds[i] ?? 0]
      return low + (high - low) * ((wanted - before) / own)
    }
    before += own
  }
  // The histogram has no information beyond its last bound.
  return bounds.at(-1) ?? null
}
