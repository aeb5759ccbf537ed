import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Standing } from '@portico/http/client'
import { seeded } from '../../testing/seeded.ts'
import type { ReadyProvider } from './provider.ts'
import { selectProvider } from './provider-attempts.ts'

const fresh: Standing = { weight: 1, health: 1, latency: 0, pending: 0, evicted: false, tried: false }

function provider(name: string): ReadyProvider {
  return { name } as unknown as ReadyProvider
}

const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(provider) as [ReadyProvider, ReadyProvider, ReadyProvider, ReadyProvider]
const groups = [[a, b], [c], [d]]

function select(tried: ReadyProvider[], evicted: ReadyProvider[] = []): string | null {
  const standingOf = (one: ReadyProvider): Standing => ({ ...fresh, evicted: evicted.includes(one) })
  return selectProvider(groups, new Set(tried), standingOf, seeded(7))?.name ?? null
}

test('the first group is used as long as it has somebody left', () => {
  assert.ok(['a', 'b'].includes(select([])!))
  assert.equal(select([a]), 'b')
  assert.equal(select([a, b]), 'c')
  assert.equal(select([a, b, c]), 'd')
  assert.equal(select([a, b, c, d]), null)
})

test('an evicted provider makes way for the next group, and is used when nobody else is left', () => {
  assert.equal(select([], [a]), 'b')
  assert.equal(select([], [a, b]), 'c')
  assert.ok(['a', 'b'].includes(select([], [a, b, c, d])!))
  assert.equal(select([c, d], [a, b]) === null, false)
})

test('the healthier of two equals gets more', () => {
  const standingOf = (one: ReadyProvider): Standing => ({ ...fresh, health: one === a ? 0.1 : 1, latency: 1 })
  const random = seeded(1)
  const picks = Array.from({ length: 400 }, () => selectProvider(groups, new Set(), standingOf, random)!.name)
  const share = picks.filter((name) => name === 'b').length / picks.length
  assert.ok(share > 0.65 && share < 0.85, String(share))
})
