import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runTrials } from './run-trials.ts'

/** Another seed in every run: `FUZZ_SEED` repeats one that failed. */
const seed = Number(process.env['FUZZ_SEED'] ?? Math.floor(Date.now() / 1000))
const forMs = Number(process.env['FUZZ_MS'] ?? 45_000)

describe('many random configs under random requests', () => {
  test(`end every request and leave the gateway as it was, seed ${seed}`, async (t) => {
    const summary = await runTrials(t, { seed, requests: 40, configs: 1_000, forMs })
    assert.match(summary, /requests ended/)
    process.stdout.write(`  ${summary}\n`)
  })
})
