import { isDeterministic } from './deterministic.ts'
import type { RegexNode } from './parse.ts'

/**
 * Whether a backtracking engine takes time linear in the text to match all of the text or to fail.
 *
 * The pattern is cut in two. Its head must be deterministic: the next character alone decides how to go on, so every
 * wrong turn dies at once. Its tail may be ambiguous, but only in a fixed small number of ways around one loop over
 * single characters (`.*\.js`), so the head is left once and the tail tries a constant number of ways per character.
 */
export function hasLinearBacktracking(tree: RegexNode): boolean {
  const items = tree.kind === 'sequence' ? tree.items : [tree]
  const tailStart = findTailStart(items)
  return isDeterministic(items.slice(0, tailStart), items.slice(tailStart))
}

/** Whether each attempt of a backtracking engine takes a constant number of steps, so that a search from all offsets is linear. */
export function isBounded(tree: RegexNode): boolean {
  const { ways, loops, length } = effortOf(tree)
  return loops === 0 && ways <= MAX_WAYS && ways * length <= MAX_STEPS_PER_CHARACTER
}

const MAX_WAYS = 16
const MAX_STEPS_PER_CHARACTER = 64

/** Finds the longest tail within the bounds, which leaves the head the least to prove. */
function findTailStart(items: RegexNode[]): number {
  let tail: Effort = { ways: 1, loops: 0, length: 0 }
  for (const [at, item] of [...items.entries()].toReversed()) {
    const start = at + 1
    tail = inSequence(tail, effortOf(item))
    if (tail.ways > MAX_WAYS || tail.loops > 1 || tail.ways * tail.length > MAX_STEPS_PER_CHARACTER) return start
  }
  return 0
}

interface Effort {
  /** The number of ways to match a text, not counting loops. */
  ways: number
  /** The number of unbounded loops over single characters on one way; infinite for a loop over anything else. */
  loops: number
  /** The number of characters of the pattern, counted copies included. */
  length: number
}

function effortOf(node: RegexNode): Effort {
  if (node.kind === 'chars') return { ways: 1, loops: 0, length: 1 }
  if (node.kind === 'sequence') return node.items.map(effortOf).reduce(inSequence, { ways: 1, loops: 0, length: 0 })
  if (node.kind === 'choice') return node.branches.map(effortOf).reduce(eitherOr)
  if (node.max === Infinity) {
    return { ways: 1, loops: node.item.kind === 'chars' ? 1 : Infinity, length: Math.max(node.min, 1) }
  }
  const inner = effortOf(node.item)
  let ways = 0
  for (let count = node.min; count <= node.max && ways <= MAX_WAYS; count++) ways += inner.ways ** count
  return { ways, loops: inner.loops * node.max, length: inner.length * node.max }
}

function inSequence(left: Effort, right: Effort): Effort {
  return { ways: left.ways * right.ways, loops: left.loops + right.loops, length: left.length + right.length }
}

function eitherOr(left: Effort, right: Effort): Effort {
  return {
    ways: left.ways + right.ways,
    loops: Math.max(left.loops, right.loops),
    length: left.length + right.length,
  }
}
