import type { Rule } from './rule.ts'

/** A range of a text that gets one mask. */
export interface Region {
  start: number
  end: number
  /** The rule whose mask is used. */
  rule: Rule
  kinds: readonly string[]
}

/**
 * Finds the regions that start at `from` or later. Every rule searches the original text, so the order of rules does
 * not matter; overlapping matches become one region, named by the longest match.
 */
export function findRegions(rules: readonly Rule[], text: string, from: number): Region[] {
  const found: Region[] = []
  for (const rule of rules) {
    for (const { start, end } of rule.matches(text, from)) found.push({ start, end, rule, kinds: [rule.kind] })
  }
  // The sort is stable: equal matches keep the order of their rules.
  found.sort((left, right) => left.start - right.start || right.end - left.end)
  return merged(found)
}

function merged(found: readonly Region[]): Region[] {
  const regions: Region[] = []
  let longest = 0
  for (const next of found) {
    const last = regions.at(-1)
    const length = next.end - next.start
    if (last === undefined || next.start >= last.end) {
      regions.push(next)
      longest = length
      continue
    }
    const rule = length > longest ? next.rule : last.rule
    longest = Math.max(longest, length)
    const kinds = [...new Set([...last.kinds, ...next.kinds])]
    regions[regions.length - 1] = { start: last.start, end: Math.max(last.end, next.end), rule, kinds }
  }
  return regions
}

/** A piece of a text: either a region to mask, or the text between two regions. */
export interface Piece {
  text: string
  /** The region that this piece is; null for text that no rule matches. */
  region: Region | null
}

export function cutPieces(
  text: string,
  regions: readonly Region[],
  { from, to }: { from: number; to: number },
): Piece[] {
  const pieces: Piece[] = []
  let at = from
  for (const region of regions) {
    if (region.end > to) break
    if (region.start > at) pieces.push({ text: text.slice(at, region.start), region: null })
    pieces.push({ text: text.slice(region.start, region.end), region })
    at = region.end
  }
  if (at < to) pieces.push({ text: text.slice(at, to), region: null })
  return pieces
}
