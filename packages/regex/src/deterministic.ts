import type { CharSet } from './char-set.ts'
import { EMPTY } from './char-set.ts'
import type { RegexNode } from './parse.ts'

/**
 * Whether the next character alone decides every choice in the head; the tail counts as one alternative. This is Glushkov's
 * construction: each character that may follow a position must be expected there for one reason only.
 */
export function isDeterministic(head: RegexNode[], tail: RegexNode[]): boolean {
  const follow: CharSet[] = []
  return visitSequence(head, { ...firstOf({ kind: 'sequence', items: tail }), last: [] }) !== null

  function visit(node: RegexNode): Part | null {
    if (node.kind === 'sequence') return visitSequence(node.items, NOTHING)
    if (node.kind === 'choice') return node.branches.map(visit).reduce(choice)
    if (node.kind === 'repeat') return repeat(node.item, node.min, node.max)
    if (follow.length === MAX_POSITIONS) return null
    follow.push(EMPTY)
    return { nullable: false, first: node.set, last: [follow.length - 1] }
  }

  function visitSequence(items: RegexNode[], end: Part): Part | null {
    return items.reduceRight<Part | null>((rest, item) => rest && sequence(visit(item), rest), end)
  }

  function sequence(left: Part | null, right: Part): Part | null {
    if (left === null || !expectAfter(left.last, right.first)) return null
    if (left.nullable && (left.first & right.first) !== EMPTY) return null
    return {
      nullable: left.nullable && right.nullable,
      first: left.nullable ? left.first | right.first : left.first,
      last: right.nullable ? [...left.last, ...right.last] : right.last,
    }
  }

  /** Expands counted repetition: x{1,3} is x(x(x)?)?, and x{2,} is xx+. */
  function repeat(node: RegexNode, min: number, max: number): Part | null {
    let part: Part | null = null
    for (let copy = max === Infinity ? Math.max(min, 1) : max; copy > 0; copy--) {
      const item = visit(node)
      // An empty round of a loop would be a choice that no character decides.
      if (item === null || item.nullable) return null
      if (part !== null) part = sequence(item, part)
      else if (max < Infinity || expectAfter(item.last, item.first)) part = item
      if (part === null) return null
      if (copy > min) part = { ...part, nullable: true }
    }
    return part
  }

  function expectAfter(positions: number[], chars: CharSet): boolean {
    for (const position of positions) {
      const expected = follow[position] ?? EMPTY
      if ((expected & chars) !== EMPTY) return false
      follow[position] = expected | chars
    }
    return true
  }
}

const MAX_POSITIONS = 256

interface First {
  nullable: boolean
  first: CharSet
}

/** The characters that a part can begin with, and the positions (characters of the pattern) at which it can end. */
interface Part extends First {
  last: number[]
}

const NOTHING: Part = { nullable: true, first: EMPTY, last: [] }

function choice(left: Part | null, right: Part | null): Part | null {
  if (left === null || right === null || (left.first & right.first) !== EMPTY) return null
  // Two ways to match nothing would multiply along a sequence without reading a character.
  if (left.nullable && right.nullable) return null
  return {
    nullable: left.nullable || right.nullable,
    first: left.first | right.first,
    last: [...left.last, ...right.last],
  }
}

function firstOf(node: RegexNode): First {
  if (node.kind === 'chars') return { nullable: false, first: node.set }
  if (node.kind === 'repeat') {
    const item = firstOf(node.item)
    return { nullable: item.nullable || node.min === 0, first: item.first }
  }
  if (node.kind === 'choice') {
    const branches = node.branches.map(firstOf)
    return {
      nullable: branches.some((branch) => branch.nullable),
      first: branches.reduce((union, branch) => union | branch.first, EMPTY),
    }
  }
  let first = EMPTY
  for (const item of node.items) {
    const next = firstOf(item)
    first |= next.first
    if (!next.nullable) return { nullable: false, first }
  }
  return { nullable: true, first }
}
