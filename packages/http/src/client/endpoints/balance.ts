/** The state of an endpoint that load balancing reads. */
export interface Standing {
  /** Relative probability of being drawn; an endpoint with weight 0 is never drawn. */
  weight: number
  /** From 0 to 1. */
  health: number
  /** Seconds; 0 until the first response. */
  latency: number
  /** Calls in progress. */
  pending: number
  evicted: boolean
  /** Whether the same request was already sent to this endpoint. */
  tried: boolean
}

/**
 * Returns the index of the endpoint for a call, or -1 when no endpoint may be used. Two endpoints are drawn by weight,
 * with replacement, and the better of the two gets the call. This is nearly as good as the best of all endpoints,
 * without sending all traffic to that endpoint.
 */
export function choose(standings: readonly Standing[], random: () => number): number {
  const candidates = candidatesOf(standings)
  if (candidates.length < 2) return candidates[0] ?? -1
  const first = draw(standings, candidates, random())
  const second = draw(standings, candidates, random())
  if (first === second) return first
  // A new endpoint counts with the mean latency: with a latency of zero it would win every draw.
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

/**
 * Returns the endpoints of the best rank: evicted endpoints are used when there is no other, tried endpoints as a last
 * resort.
 */
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
  // Rounding can leave a small remainder after the last candidate.
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
