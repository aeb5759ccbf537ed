import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareWithWire } from './testing/agreement.ts'

/** 1,000 pairs run with PROPERTIES=full. */
const PAIRS = process.env['PROPERTIES'] === 'full' ? 1_000 : 40
/** The timeout: on a loaded machine, 1,000 pairs of configs and requests take minutes. */
const LIMIT_MS = 900_000

test('a simulation and a gateway with sockets decide, forward and answer alike', { timeout: LIMIT_MS }, async (t) => {
  const seed = Number(process.env['FUZZ_SEED'] ?? 7)
  const { compared, unknown, byOutcome } = await compareWithWire(t, { seed, pairs: PAIRS, requests: 4 })
  t.diagnostic(
    `seed ${seed}: ${compared} pairs agree, ${unknown} unknown: ${JSON.stringify(Object.fromEntries(byOutcome))}`,
  )
  assert.ok(compared >= PAIRS * 0.8, `only ${compared} of ${PAIRS} pairs could be compared`)
})
