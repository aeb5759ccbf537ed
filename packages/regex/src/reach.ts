import type { CharSet } from './char-set.ts'
import { EMPTY, range } from './char-set.ts'
import type { RegexNode } from './parse.ts'
import { parseCommonSyntax } from './parse.ts'

/** Bounds of the matches of a pattern, for searches in a text that still grows. */
export interface Reach {
  /** The longest match in UTF-16 code units; infinite when there is no bound. */
  longest: number
  /** Whether a match can begin with this UTF-16 code unit; all code units beyond ASCII are treated alike. */
  canStartWith: (code: number) => boolean
  canContain: (code: number) => boolean
}

/**
 * Computes the bounds; null when the pattern uses syntax beyond the common subset. A leading `(?i)` and word boundaries
 * are supported here, although the common subset has neither.
 */
export function reachOf(pattern: string): Reach | null {
  const anyCase = pattern.startsWith(ANY_CASE)
  const plain = withoutBoundaries(anyCase ? pattern.slice(ANY_CASE.length) : pattern)
  const branches = plain === null ? null : parseCommonSyntax(plain)
  if (branches === null) return null
  const extents = branches.map(({ node }) => extentOf(node))
  const { longest, first, all } = extents.reduce(eitherOr)
  return {
    longest,
    canStartWith: memberTest(anyCase ? inAnyCase(first) : first),
    canContain: memberTest(anyCase ? inAnyCase(all) : all),
  }
}

const ANY_CASE = '(?i)'

/**
 * Removes `\b` and `\B`, which consume nothing; null when one is quantified, because the quantifier would apply to the part
 * before it.
 */
function withoutBoundaries(pattern: string): string | null {
  let plain = ''
  for (let at = 0; at < pattern.length; at++) {
    if (pattern[at] !== '\\') plain += pattern[at]
    else {
      const escaped = pattern.slice(at, at + 2)
      at++
      if (escaped !== '\\b' && escaped !== '\\B') plain += escaped
      else if (/[*+?{]/.test(pattern[at + 1] ?? '')) return null
    }
  }
  return plain
}

interface Extent {
  longest: number
  nullable: boolean
  first: CharSet
  all: CharSet
}

function extentOf(node: RegexNode): Extent {
  switch (node.kind) {
    case 'chars':
      return { longest: node.set > LAST_ASCII ? 2 : 1, nullable: false, first: node.set, all: node.set }
    case 'sequence':
      return node.items.map(extentOf).reduce(inSequence, { longest: 0, nullable: true, first: EMPTY, all: EMPTY })
    case 'choice':
      return node.branches.map(extentOf).reduce(eitherOr)
    case 'repeat': {
      const item = extentOf(node.item)
      const longest = item.longest === 0 ? 0 : item.longest * node.max
      return { ...item, longest, nullable: item.nullable || node.min === 0 }
    }
  }
}

function inSequence(left: Extent, right: Extent): Extent {
  return {
    longest: left.longest + right.longest,
    nullable: left.nullable && right.nullable,
    first: left.nullable ? left.first | right.first : left.first,
    all: left.all | right.all,
  }
}

function eitherOr(left: Extent, right: Extent): Extent {
  return {
    longest: Math.max(left.longest, right.longest),
    nullable: left.nullable || right.nullable,
    first: left.first | right.first,
    all: left.all | right.all,
  }
}

const BEYOND_ASCII = 128
const LAST_ASCII: CharSet = (1n << 128n) - 1n
const UPPER = range('A', 'Z')
const LOWER = range('a', 'z')
const CASE_DISTANCE = 32n

/**
 * Adds the other case of each letter. The long s and the Kelvin sign fold to ASCII letters, so everything beyond ASCII is
 * added with them.
 */
function inAnyCase(set: CharSet): CharSet {
  const letters = set & (UPPER | LOWER)
  if (letters === EMPTY) return set
  return (
    set | ((letters & UPPER) << CASE_DISTANCE) | ((letters & LOWER) >> CASE_DISTANCE) | (1n << BigInt(BEYOND_ASCII))
  )
}

function memberTest(set: CharSet): (code: number) => boolean {
  const members = Uint8Array.from({ length: BEYOND_ASCII + 1 }, (_, code) => Number((set >> BigInt(code)) & 1n))
  return (code) => members[code < BEYOND_ASCII ? code : BEYOND_ASCII] === 1
}
