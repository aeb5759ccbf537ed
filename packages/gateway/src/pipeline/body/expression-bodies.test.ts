import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Expression, ExpressionPhase } from '../expression/expression.ts'
import type { Env } from '../context/step.ts'
import type { BodyUse } from '../context/body-use.ts'
import { ExpressionBodies } from './expression-bodies.ts'

test('a step needs the most that any of its expressions needs, but for those of logs', () => {
  assert.deepEqual(usesOf([]), { requestBody: 'none', responseBody: 'none' })
  assert.deepEqual(usesOf([['none', 'request']]), { requestBody: 'none', responseBody: 'none' })
  const both: [BodyUse, ExpressionPhase][] = [
    ['prefix', 'request'],
    ['whole', 'response'],
  ]
  assert.deepEqual(usesOf(both), { requestBody: 'whole', responseBody: 'whole' })
  assert.deepEqual(usesOf([['prefix', 'responseHead']]), { requestBody: 'prefix', responseBody: 'none' })
  assert.deepEqual(usesOf([['whole', 'log']]), { requestBody: 'none', responseBody: 'none' })
})

test('body uses that a step declares are added to those of its expressions, or replace them when the step reads bodies itself', () => {
  const said = { requestBody: 'none', responseBody: 'prefix' } as const
  assert.deepEqual(usesOf([['none', 'response']], said), said)
  assert.deepEqual(usesOf([['whole', 'response']], said), { requestBody: 'whole', responseBody: 'whole' })
  assert.deepEqual(usesOf([['whole', 'response']], { ...said, readsBodies: true }), said)
})

/** Expressions that read so much of a body, each in its phase. */
function usesOf(expressions: readonly [use: BodyUse, phase: ExpressionPhase][], said = {}) {
  const cel = (use: string, phase: ExpressionPhase) =>
    ({ requestBody: use, responseBody: phase === 'response' ? use : 'none' }) as Expression
  const bodies = new ExpressionBodies({ cel } as unknown as Env)
  for (const [use, phase] of expressions) bodies.env.cel(use, phase)
  const { requestBody, responseBody } = bodies.of(said)
  return { requestBody, responseBody }
}
