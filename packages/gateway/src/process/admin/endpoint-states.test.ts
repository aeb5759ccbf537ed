import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NamedState } from '@portico/http/client'
import { EndpointStates } from './endpoint-states.ts'

const fine: NamedState = {
  ...{ backend: 'b', name: '10.0.0.1:80', isShared: true, health: 1, failures: 0, evictions: 0 },
  ...{ evictedForMs: 0, latencyMs: 0, pending: 1, lastFailure: null },
}

test('reports of all workers about an endpoint are merged, with the newest failure', () => {
  const evicted = { ...fine, evictedForMs: 4000, health: 0.7, failures: 2, evictions: 1, latencyMs: 12 }
  const known = new EndpointStates(
    [
      [{ ...evicted, lastFailure: { cause: 'status 503', agoMs: 500 } }],
      null,
      [{ ...evicted, lastFailure: { cause: 'connect_failed', agoMs: 100 } }],
    ],
    10_000,
  )
  assert.equal(known.unheard, 1)
  assert.deepEqual(known.of('b'), [
    {
      ...{ name: '10.0.0.1:80', state: 'evicted', isJudged: true, evictedUntil: 14_000, evictions: 1, failures: 2 },
      ...{ health: 0.7, latency: 12, pending: 2, lastFailure: { at: 9900, cause: 'connect_failed' } },
    },
  ])
  assert.deepEqual(known.of('other'), [])
})

test('one whose last answer was bad is failing, and one without an answer has no latency', () => {
  const known = new EndpointStates([[{ ...fine, name: 'a', failures: 1, isShared: false }, fine]], 0)
  assert.deepEqual(
    known
      .of('b')
      .map(({ name, state, isJudged, latency, evictedUntil }) => [name, state, isJudged, latency, evictedUntil]),
    [
      ['a', 'failing', false, null, null],
      ['10.0.0.1:80', 'healthy', true, null, null],
    ],
  )
})
