import assert from 'node:assert/strict'
import { analyse } from '../analyse.ts'
import { generate } from '../emit/generate.ts'
import { interpret } from '../emit/interpret.ts'
import type { Environment } from '../declarations.ts'
import { dyn } from '../declarations.ts'
import { createEnvironment } from '../environment.ts'
import type { Result } from '../value.ts'
import { describeValue } from './describe.ts'

/**
 * Returns the result of both back ends, after asserting that they agree. Without an environment, the variables of the
 * scope are `dyn`.
 */
export function evaluate(source: string, scope: object = {}, environment: Environment = dynamic(scope)): Result {
  const { plan, problems } = analyse(source, environment)
  assert.deepEqual(problems, [], source)
  assert.ok(plan)
  const generated = generate(plan, environment.budget)(scope)
  assert.equal(describeValue(interpret(plan, environment.budget)(scope)), describeValue(generated), source)
  return generated
}

/** Like `evaluate`, but returns the result as text. */
export function show(source: string, scope: object = {}, environment?: Environment): string {
  return describeValue(evaluate(source, scope, environment))
}

function dynamic(scope: object): Environment {
  return createEnvironment({ variables: Object.fromEntries(Object.keys(scope).map((name) => [name, dyn])) })
}
