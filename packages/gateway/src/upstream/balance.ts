/** What the choice between endpoints goes by. */
export interface Standing {
  /** Share of the draws; 0 is never drawn. */
  weight: number
  /** From 0 to 1. */
  health: number
  /** Seconds; 0 until it has answered once. */
  latency: number
  /** Calls under way. */
  pending: number
  evicted: boolean
  /** The same request has been there already. */
  tried: boolean
}

/**
 * Index of the endpoint for a call, or -1 when none may be drawn. Of two drawn by weight, with replacement, the better
 * one gets the call: nearly as good as the best of all, without everybody running to that one.
 */
export function choose(standings: readonly Standing[], random: () => number): number {
  const candidates = candidatesOf(standings)
  if (candidates.length < 2) return candidates[0] ?? -1
  const first = draw(standings, candidates, random())
  const second = draw(standings, candidates, random())
  if (first === second) return first
  // A new endpoint is expected to be like the others: with no latency at all it would win every draw.
  const expected = meanLatency(standings)
  const scoreAt = (index: number): number => {
    const standing = standings[index]
    return standing === undefined ? 0 : scoreOf(standing, expected)
  }
  return scoreAt(second) > scoreAt(first) ? second : first
}

export function scoreOf({ health, latency, pending }: Standing, expectedLatency: number): number {
  return health / (1 + (latency || expectedLatency) * (1 + 0.1 * pending))
}

/** Those of the best rank: evicted endpoints are used when there is no other, tried ones when nothing else is left. */
function candidatesOf(standings: readonly Standing[]): readonly number[] {
  let candidates: number[] = []
  let best = Infinity
  for (const [index, { weight, evicted, tried }] of standings.entries()) {
    const rank = (evicted ? 2 : 0) + (tried ? 1 : 0)
    if (weight === 0 || rank > best) continue
    if (rank < best) candidates = []
    best = rank
    candidates.push(index)
  }
  return candidates
}

function draw(standings: readonly Standing[], candidates: readonly number[], random: number): number {
  const weightAt = (index: number): number => standings[index]?.weight ?? 0
  let left = random * candidates.reduce((sum, index) => sum + weightAt(index), 0)
  for (const index of candidates) {
    left -= weightAt(index)
    if (left < 0) return index
  }
  // Rounding can leave a crumb behind the last one.
  return candidates.at(-1) ?? -1
}

function meanLatency(standings: readonly Standing[]): number {
  let sum = 0
  let known = 0
  for (const { latency } of standings) {
    if (latency === 0) continue
    sum += latency
    known++
  }
  return known === 0 ? 0 : sum / known
}
