import { toV8Class } from './char-set.ts'
import { hasLinearBacktracking, isBounded } from './linear.ts'
import type { Branch, RegexNode } from './parse.ts'
import { wholeTree } from './parse.ts'

/**
 * The pattern with which V8 may search for a match anywhere in a text, or null when only RE2 may.
 *
 * A backtracking engine starts anew at every offset. That is linear when the pattern can start at one offset only, or
 * when every attempt is short. The caller only needs to know whether there is a match, so loops at either end are cut
 * to their minimum.
 */
export function searchSource(branches: Branch[]): string | null {
  if (branches.every(({ fromStart }) => fromStart)) {
    return hasLinearBacktracking(wholeTree(branches)) ? `^(?:${branches.map(toSource).join('|')})` : null
  }
  const trimmed = branches.map(trim)
  return isBounded(wholeTree(trimmed))
    ? trimmed.map((branch) => (branch.fromStart ? '^' : '') + toSource(branch)).join('|')
    : null
}

// A lookahead in place of `$`: V8 starts a search for `[^a]$` one unit before the end, and misses characters of two units.
const TEXT_END = '(?![^])'

function toSource({ node, toEnd }: Branch): string {
  return `(?:${toV8Source(node)})${toEnd ? TEXT_END : ''}`
}

function trim({ node, fromStart, toEnd }: Branch): Branch {
  const items = node.kind === 'sequence' ? [...node.items] : [node]
  if (!fromStart) trimFirst(items)
  if (!toEnd) trimFirst(items.reverse()).reverse()
  return { node: { kind: 'sequence', items }, fromStart, toEnd }
}

/** Drops leading repetitions that may match nothing, and cuts the next one to its minimum. */
function trimFirst(items: RegexNode[]): RegexNode[] {
  for (let first = items[0]; first?.kind === 'repeat'; first = items[0]) {
    if (first.min === 0) items.shift()
    else {
      items[0] = { ...first, max: first.min }
      break
    }
  }
  return items
}

export function toV8Source(node: RegexNode): string {
  if (node.kind === 'chars') return toV8Class(node.set)
  if (node.kind === 'choice') return node.branches.map(toV8Source).join('|')
  if (node.kind === 'repeat') return `${group(node.item)}{${node.min},${node.max === Infinity ? '' : node.max}}`
  return node.items.map((item) => (item.kind === 'choice' ? group(item) : toV8Source(item))).join('')
}

function group(node: RegexNode): string {
  return node.kind === 'chars' ? toV8Source(node) : `(?:${toV8Source(node)})`
}
