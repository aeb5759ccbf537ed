import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Grace } from './grace.ts'

describe('the grace period of a Gateway', () => {
  it('starts with the first question about a generation', () => {
    let now = 10_000
    const grace = new Grace(() => now)
    assert.ok(grace.holds('shop/web', 1))
    now += 1_999
    assert.ok(grace.holds('shop/web', 1))
    now += 1
    assert.ok(!grace.holds('shop/web', 1))
    assert.ok(grace.holds('shop/web', 2))
    assert.ok(grace.holds('shop/other', 1))
    grace.forget('shop/web')
    assert.ok(grace.holds('shop/web', 2))
  })
})
