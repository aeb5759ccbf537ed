import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelError, type Result } from '@portico/cel'
import * as fc from 'fast-check'
import { createJudge, type Rule, type RuleMode, rulesOf } from './authorization.ts'

const failed = new CelError('no_such_key', 'no such key: jwt')

/** The table of docs/policies.md: what one rule of each mode, or none, comes to. */
const outcomes = { '-': null, true: true, false: false, fails: failed } as const
type Outcome = keyof typeof outcomes

function allows(rules: [RuleMode, Result][]): boolean {
  return createJudge(rules.map(([mode, result]) => ({ mode, source: '', evaluate: () => result }))).allows(null)
}

function one(deny: Outcome, require: Outcome, allow: Outcome): boolean {
  const rules = Object.entries({ deny, require, allow }).flatMap(([mode, outcome]): [RuleMode, Result][] =>
    outcome === '-' ? [] : [[mode as RuleMode, outcomes[outcome]]],
  )
  return allows(rules)
}

const all: Outcome[] = ['-', 'true', 'false', 'fails']

test('a deny rule that holds, or fails, denies whatever the others say', () => {
  for (const require of all)
    for (const allow of all) {
      assert.equal(one('true', require, allow), false)
      assert.equal(one('fails', require, allow), false)
    }
})

test('a require rule that does not hold, or fails, denies', () => {
  for (const allow of all)
    for (const deny of ['-', 'false'] as const) {
      assert.equal(one(deny, 'false', allow), false)
      assert.equal(one(deny, 'fails', allow), false)
    }
})

test('with allow rules one of them must hold; without, what nobody denies may pass', () => {
  for (const deny of ['-', 'false'] as const)
    for (const require of ['-', 'true'] as const) {
      assert.equal(one(deny, require, 'true'), true)
      assert.equal(one(deny, require, 'false'), false)
      assert.equal(one(deny, require, 'fails'), false)
      assert.equal(one(deny, require, '-'), true)
    }
})

test('a result that is neither true nor false is a failure', () => {
  for (const odd of [null, 1, 'true', []]) {
    assert.equal(allows([['deny', odd]]), false)
    assert.equal(allows([['require', odd]]), false)
    assert.equal(allows([['allow', odd]]), false)
  }
})

test('any number of rules in any order agree with the definition', () => {
  const result = fc.constantFrom<Result>(true, false, failed, 1)
  const rule = fc.tuple(fc.constantFrom<RuleMode>('allow', 'deny', 'require'), result)
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 8 }), (rules) => {
      const of = (mode: RuleMode) => rules.filter(([each]) => each === mode).map(([, value]) => value)
      const expected =
        of('deny').every((value) => value === false) &&
        of('require').every((value) => value === true) &&
        (of('allow').length === 0 || of('allow').includes(true))
      assert.equal(allows(rules), expected)
    }),
  )
})

test('both ways to write rules mean the same, and sets are joined in order', () => {
  const rules = rulesOf([
    { rules: [{ mode: 'deny', expression: 'a' }] },
    { policy: { matchExpressions: ['b', 'c'] } },
    { action: 'Require', policy: { matchExpressions: ['d'] } },
  ])
  assert.deepEqual(rules, [
    { mode: 'deny', expression: 'a' },
    { mode: 'allow', expression: 'b' },
    { mode: 'allow', expression: 'c' },
    { mode: 'require', expression: 'd' },
  ])
})

test('an explanation names every rule with what it came to', () => {
  const rules: Rule<null>[] = [
    { mode: 'deny', source: 'a', evaluate: () => failed },
    { mode: 'allow', source: 'b', evaluate: () => true },
    { mode: 'require', source: 'c', evaluate: () => 7 },
  ]
  assert.deepEqual(createJudge(rules).explain(null), [
    { name: 'a', mode: 'deny', matched: false, error: 'no such key: jwt' },
    { name: 'b', mode: 'allow', matched: true },
    { name: 'c', mode: 'require', matched: false, error: 'the result is neither true nor false' },
  ])
})
