import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { shutdownVariables } from './shutdown.ts'

describe('shutdown of a data plane', () => {
  it('ends before Kubernetes kills it, for all parameters', () => {
    const seconds = fc.integer({ min: 0, max: 31_536_000 })
    fc.assert(
      fc.property(seconds, seconds, (one, other) => {
        const [min, max] = [Math.min(one, other), Math.max(one, other)]
        const values = shutdownVariables({ shutdown: { min, max } }).map(({ value }) =>
          Number.parseInt(value ?? '', 10),
        )
        const [grace, waiting, deadline] = values
        assert.ok(grace !== undefined && waiting !== undefined && deadline !== undefined)
        assert.equal(grace, max)
        assert.ok(waiting <= min && waiting >= 0 && deadline >= 1)
        if (max >= 2) assert.ok(waiting + deadline < max)
        // The limits of the program.
        assert.ok(waiting <= 3_600 && deadline <= 86_400)
      }),
      { numRuns: 1_000 },
    )
  })
})
