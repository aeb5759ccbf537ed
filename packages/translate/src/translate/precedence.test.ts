import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Resource } from '../resources/resource.ts'
import { BUCKETS, bucketOf } from './listeners/buckets.ts'
import { ageOf, byAge, compare } from './precedence.ts'

function created(name: string, creationTimestamp?: string): Resource {
  const metadata = { namespace: 'shop', name, ...(creationTimestamp !== undefined && { creationTimestamp }) }
  return { apiVersion: 'v1', kind: 'Service', metadata }
}

test('the oldest comes first, then the first by name, and what has no time comes last', () => {
  const resources = [
    created('b'),
    created('a'),
    created('young', '2026-01-01T00:00:00Z'),
    created('twin', '2001-01-01T00:00:00Z'),
    created('old', '2001-01-01T00:00:00Z'),
    created('oldest', '1970-01-01T00:00:01Z'),
  ]
  const names = resources.toSorted(byAge).map(({ metadata }) => metadata.name)
  assert.deepEqual(names, ['oldest', 'old', 'twin', 'young', 'a', 'b'])
})

test('an age is a text of one width, so that it sorts as the time does', () => {
  assert.equal(ageOf(created('a', '1970-01-01T00:00:01Z')), '0000000000001000 shop/a')
  assert.equal(ageOf(created('a')), '9999999999999999 shop/a')
})

test('texts compare by order, and equal texts are equal', () => {
  assert.deepEqual([compare('a', 'b'), compare('b', 'a'), compare('a', 'a')], [-1, 1, 0])
})

test('routes spread over all buckets', () => {
  const buckets = Array.from({ length: 1000 }, (_, index) => bucketOf(`HTTPRoute/shop/route-${index}`))
  assert.deepEqual(
    [...new Set(buckets)].toSorted((one, other) => one - other),
    BUCKETS,
  )
})
