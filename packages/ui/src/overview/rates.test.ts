import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestSummary } from '@portico/gateway/admin-api'
import { ratesOf, reasonsOf } from './rates.ts'

const at = (ago: number, rest: Partial<RequestSummary> = {}): RequestSummary =>
  ({
    at: 100_000 - ago,
    took: 1000,
    outcome: 'passed',
    listener: 'web',
    route: 'a',
    backend: 'x',
    reason: null,
    ...rest,
  }) as RequestSummary

test('a rate is over the window, or over what a full list covers', () => {
  const three = [at(100), at(200, { outcome: 'failed' }), at(2000, { route: 'b', backend: null })]
  const sparse = ratesOf(three, 100_000, 1000, 60_000)
  assert.deepEqual([sparse.count, sparse.seconds], [3, 60])
  assert.deepEqual(sparse.of({ route: 'a' }), { count: 2, perSecond: 2 / 60, badShare: 0.5, p95: 1000 })
  assert.equal(sparse.of({ route: 'b', backend: 'x' }), null)
  const full = ratesOf(three, 100_000, 3, 60_000)
  assert.equal(full.seconds, 2)
  assert.equal(full.of({ listener: 'web' })?.perSecond, 1.5)
})

test('p95 is that of the slow ones', () => {
  const many = Array.from({ length: 100 }, (_, i) => at(i, { took: i }))
  assert.equal(ratesOf(many, 100_000, 1000, 60_000).of({})?.p95, 95)
})

test('reasons are counted by what decided', () => {
  const reason = { kind: 'RateLimit', policy: 'rateLimit', phase: null, code: '', values: {} }
  const found = reasonsOf([
    at(1, { reason: { ...reason, policy: null, kind: 'NotFound' } }),
    at(2, { reason }),
    at(3, { reason }),
  ])
  assert.deepEqual(
    found.map(({ name, count, last }) => [name, count, 100_000 - last.at]),
    [
      ['rateLimit', 2, 2],
      ['NotFound', 1, 1],
    ],
  )
})
