import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { hasLinearBacktracking, isBounded } from './linear.ts'
import type { RegexNode } from './parse.ts'
import { parseCommonSyntax, wholeTree } from './parse.ts'

/** The time limit in milliseconds of tests that count their cases, so that the shorter global limit drops none. */
const COUNTED_MS = 60_000

const TEXT_LENGTH = 300

describe('linear backtracking', () => {
  it('holds for every accepted pattern when the steps of a backtracking matcher are counted', () => {
    let accepted = 0
    fc.assert(
      fc.property(patterns, fc.array(texts, { minLength: 4, maxLength: 4 }), (pattern, samples) => {
        const tree = parseTree(pattern)
        if (!hasLinearBacktracking(tree)) return
        accepted++
        for (const text of samples) assert.ok(withinBound(tree, text), `${pattern} on ${text}`)
      }),
      { seed: 30, numRuns: 3000, interruptAfterTimeLimit: COUNTED_MS },
    )
    assert.ok(accepted > 500, `${accepted} accepted`)
  })

  it('holds for searches too: bounded patterns take a constant number of steps from each start', () => {
    let accepted = 0
    fc.assert(
      fc.property(patterns, texts, (pattern, text) => {
        const tree = parseTree(pattern)
        if (!isBounded(tree)) return
        accepted++
        for (let start = 0; start < text.length; start += 7) {
          assert.ok(withinSteps(tree, text.slice(start), MAX_STEPS_FROM_A_START), `${pattern} on ${text}`)
        }
      }),
      { seed: 31, numRuns: 3000, interruptAfterTimeLimit: COUNTED_MS },
    )
    assert.ok(accepted > 300, `${accepted} accepted`)
  })

  it('is exceeded by evil patterns, so the count is a real test', () => {
    const text = 'a'.repeat(TEXT_LENGTH)
    for (const pattern of ['(a+)+b', '(a|a)*b', 'a*a*b', '(a|aa)*b', 'a*(a*b|a*)c']) {
      const tree = parseTree(pattern)
      assert.equal(withinBound(tree, text), false, pattern)
      assert.equal(hasLinearBacktracking(tree), false, pattern)
    }
  })
})

function parseTree(pattern: string): RegexNode {
  const branches = parseCommonSyntax(pattern)
  assert.ok(branches)
  return wholeTree(branches)
}

/** The most steps from one start, which include nodes and copies around the characters that `isBounded` counts. */
const MAX_STEPS_FROM_A_START = 2000

/** Whether the number of steps is linear in the text. */
function withinBound(tree: RegexNode, text: string): boolean {
  return withinSteps(tree, text, 20 * size(tree) * (text.length + 1))
}

/** Whether a backtracking engine matches, or fails to, within this number of steps. */
function withinSteps(tree: RegexNode, text: string, steps: number): boolean {
  let left = steps
  const tooMany = new Error('too many steps')
  try {
    run(tree, 0, (at) => at === text.length)
    return true
  } catch (error) {
    if (error !== tooMany) throw error
    return false
  }

  function run(node: RegexNode, at: number, go: (at: number) => boolean): boolean {
    if (left-- === 0) throw tooMany
    if (node.kind === 'chars') {
      return at < text.length && ((node.set >> BigInt(text.charCodeAt(at))) & 1n) === 1n && go(at + 1)
    }
    if (node.kind === 'choice') return node.branches.some((branch) => run(branch, at, go))
    if (node.kind === 'sequence') return runItems(node.items, 0, at, go)
    return runRepeat(node, 0, at, go)
  }

  function runItems(items: RegexNode[], index: number, at: number, go: (at: number) => boolean): boolean {
    const item = items[index]
    return item === undefined ? go(at) : run(item, at, (next) => runItems(items, index + 1, next, go))
  }

  function runRepeat(
    node: RegexNode & { kind: 'repeat' },
    round: number,
    at: number,
    go: (at: number) => boolean,
  ): boolean {
    const again =
      round < node.max &&
      run(node.item, at, (next) => (next > at || round < node.min) && runRepeat(node, round + 1, next, go))
    return again || (round >= node.min && go(at))
  }
}

/** The number of nodes, counted copies included. */
function size(node: RegexNode): number {
  if (node.kind === 'chars') return 1
  if (node.kind === 'sequence') return node.items.reduce((sum, item) => sum + size(item), 1)
  if (node.kind === 'choice') return node.branches.reduce((sum, branch) => sum + size(branch), 1)
  return 1 + size(node.item) * (node.max === Infinity ? Math.max(node.min, 1) : node.max)
}

const texts = fc
  .tuple(
    fc.constantFrom('a', 'b', 'ab', 'aab', 'abc', 'c/', 'ba/'),
    fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 4 }),
  )
  .map(([unit, end]) => unit.repeat(TEXT_LENGTH / unit.length) + end)

const patterns = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('a', 'b', 'c', '/', '.', '[ab]', '[^a]', '[^/]'),
    tie('pattern').map((inner) => `(${inner})`),
  ),
  pattern: fc
    .array(
      fc
        .array(
          fc
            .tuple(tie('atom'), fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{1,2}', '{0,3}', '{2,}'))
            .map(([atom, repeat]) => atom + repeat),
          { maxLength: 5 },
        )
        .map((items) => items.join('')),
      { minLength: 1, maxLength: 3 },
    )
    .map((branches) => branches.join('|')),
})).pattern
