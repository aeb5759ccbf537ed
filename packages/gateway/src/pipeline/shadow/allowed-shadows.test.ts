import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowedOutcome } from '../../records/allowed-outcome.ts'
import type { ShadowOutcome } from '../../records/shadow-outcome.ts'
import { AllowedShadows } from './allowed-shadows.ts'

const [authorization, rateLimit] = ['authorization', 'rateLimit'].map(allowedOutcome) as [ShadowOutcome, ShadowOutcome]
const denied: ShadowOutcome = { ...rateLimit, outcome: 'denied', status: 429, text: 'would have denied' }
const masked: ShadowOutcome = { ...rateLimit, text: 'would have masked the request: email' }

test('policies that would have allowed a request are their names', () => {
  const details = new AllowedShadows()
  for (const _again of [1, 2]) {
    assert.equal(details.of([authorization]), '{"allowedShadows":["authorization"]}')
    assert.equal(details.of([authorization, rateLimit]), '{"allowedShadows":["authorization","rateLimit"]}')
    assert.equal(details.of([rateLimit, authorization]), '{"allowedShadows":["rateLimit","authorization"]}')
  }
})

test('an outcome with more to tell is left to the whole details', () => {
  const details = new AllowedShadows()
  assert.equal(details.of([denied]), null)
  assert.equal(details.of([masked]), null)
  assert.equal(details.of([authorization, denied]), null)
})
