import assert from 'node:assert/strict'
import { it } from 'node:test'
import { budgetOf, effortOf, isEffort } from './effort.ts'

it('a word becomes a number of tokens', () => {
  const words = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
  assert.deepEqual(
    words.map((effort) => budgetOf({ effort })),
    [1024, 1024, 2048, 4096, 8192, 16384],
  )
  assert.equal(budgetOf({ effort: 'none' }), null)
  assert.equal(budgetOf({}), null)
  assert.equal(budgetOf(null), null)
  assert.equal(budgetOf({ effort: 'low', budget: 9000 }), 9000)
})

it('a number becomes a word that every reasoning model knows', () => {
  const budgets = [1024, 2047, 2048, 8191, 8192, 32_000]
  assert.deepEqual(
    budgets.map((budget) => effortOf({ budget })),
    ['low', 'low', 'medium', 'medium', 'high', 'high'],
  )
  assert.equal(effortOf({ effort: 'xhigh', budget: 1024 }), 'xhigh')
  assert.equal(effortOf({}), null)
  assert.equal(effortOf(null), null)
})

it('only known words are words', () => {
  assert.ok(isEffort('none') && isEffort('max'))
  assert.ok(!isEffort('huge') && !isEffort('toString') && !isEffort(''))
})
