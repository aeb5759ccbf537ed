/** The value below which that share of observations lies, as far as buckets tell; null without any. */
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
  // Beyond the last bound nobody knows more.
  return bounds.at(-1) ?? null
}
