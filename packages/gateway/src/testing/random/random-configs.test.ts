import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runTrials } from './run-trials.ts'

describe('random configs under random requests', () => {
  test('end every request and leave the gateway as it was', async (t) => {
    const summary = await runTrials(t, { seed: 1, requests: 25, configs: 5, forMs: 1_500 })
    assert.match(summary, /requests ended/)
  })
})
