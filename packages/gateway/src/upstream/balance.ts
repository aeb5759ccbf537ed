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
  const [only] = candidates
  if (only === undefined) return -1
  if (candidates.length === 1) return only.index
  const first = draw(candidates, random()) ?? only
  const second = draw(candidates, random()) ?? only
  if (first === second) return first.index
  // A new endpoint is expected to be like the others: with no latency at all it would win every draw.
  const expected = meanLatency(standings)
  return (scoreOf(second.standing, expected) > scoreOf(first.standing, expected) ? second : first).index
}

interface Candidate {
  index: number
  standing: Standing
}

export function scoreOf({ health, latency, pending }: Standing, expectedLatency: number): number {
  return health / (1 + (latency || expectedLatency) * (1 + 0.1 * pending))
}

/** Those of the best rank: evicted endpoints are used when there is no other, tried ones when nothing else is left. */
function candidatesOf(standings: readonly Standing[]): readonly Candidate[] {
  let candidates: Candidate[] = []
  let best = Infinity
  for (const [index, standing] of standings.entries()) {
    const rank = (standing.evicted ? 2 : 0) + (standing.tried ? 1 : 0)
    if (standing.weight === 0 || rank > best) continue
    if (rank < best) candidates = []
    best = rank
    candidates.push({ index, standing })
  }
  return candidates
}

function draw(candidates: readonly Candidate[], random: number): Candidate | undefined {
  let left = random * candidates.reduce((sum, { standing }) => sum + standing.weight, 0)
  for (const candidate of candidates) {
    left -= candidate.standing.weight
    if (left < 0) return candidate
  }
  // Rounding can leave a crumb behind the last one.
  return candidates.at(-1)
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
