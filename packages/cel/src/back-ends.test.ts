import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { fold } from './check/fold.ts'
import { resolve } from './check/resolve.ts'
import { generate } from './emit/generate.ts'
import { interpret } from './emit/interpret.ts'
import { createEnvironment } from './environment.ts'
import { CelError } from './error.ts'
import { parse } from './parse/parser.ts'
import { describeValue } from './testing/describe.ts'
import { sources } from './testing/expressions.ts'
import { richScopes, richSources, richVariables } from './testing/rich-expressions.ts'
import type { Result } from './value.ts'

/** The time limit in milliseconds of tests that count their cases, so that the shorter global limit drops none. */
const COUNTED_MS = 60_000
/** The share of all cases that a quick run tries. */
const SHARE = process.env['PROPERTIES'] === 'full' ? 1 : 0.1

describe('cel: closures and generated code', () => {
  const environment = createEnvironment({ variables: richVariables })

  it('give the same result, or the same error at the same position', () => {
    const counts = { values: 0, errors: 0, refused: 0 }
    fc.assert(
      fc.property(fc.oneof(sources, richSources), richScopes, (source, scope) => {
        const parsed = parse(source)
        assert.ok(parsed.ok, source)
        const { plan, problems } = resolve(source, parsed.expr, environment)
        if (problems.length > 0) {
          counts.refused++
          return
        }
        const folded = fold(plan, environment, () => {})
        const expected = interpret(plan, environment.budget)(scope)
        counts[expected instanceof CelError ? 'errors' : 'values']++
        for (const evaluate of [
          generate(plan, environment.budget),
          generate(folded, environment.budget),
          interpret(folded, environment.budget),
        ]) {
          assert.equal(show(evaluate(scope)), show(expected), source)
        }
        assert.ok(!(expected instanceof CelError && expected.kind === 'internal'), `${source}: ${show(expected)}`)
      }),
      { seed: 53, numRuns: 4000 * SHARE, interruptAfterTimeLimit: COUNTED_MS },
    )
    const isVaried = counts.values > 1000 * SHARE && counts.errors > 1000 * SHARE && counts.refused < 100 * SHARE
    assert.ok(isVaried, JSON.stringify(counts))
  })
})

function show(result: Result): string {
  return result instanceof CelError ? `${describeValue(result)} at ${result.position}` : describeValue(result)
}
