import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compareWithShadows } from './testing/shadow-agreement.ts'

/** The number of pairs of configs and requests; PROPERTIES=full runs 1,000. */
const PAIRS = process.env['PROPERTIES'] === 'full' ? 1_000 : 60
/** The timeout: on a loaded machine, 1,000 pairs of configs and requests take minutes. */
const LIMIT_MS = 900_000

test('with shadows added, responses and requests to backends stay the same', { timeout: LIMIT_MS }, async (t) => {
  const seed = Number(process.env['FUZZ_SEED'] ?? 11)
  const { compared, verdicts } = await compareWithShadows(t, { seed, pairs: PAIRS, requests: 4 })
  t.diagnostic(`seed ${seed}: ${compared} pairs agree: ${JSON.stringify(Object.fromEntries(verdicts))}`)
  for (const policy of ['authorization', 'rateLimit']) {
    assert.ok((verdicts.get(`${policy}:denied`) ?? 0) > 0, `no shadow of ${policy} has denied a request`)
    assert.ok((verdicts.get(`${policy}:allowed`) ?? 0) > 0, `no shadow of ${policy} has allowed a request`)
  }
})
