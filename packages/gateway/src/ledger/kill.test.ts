import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { describe, test } from 'node:test'
import { CENT, useKills } from './test-kill-scene.ts'

describe('a ledger whose gateway is killed', () => {
  test('has each call that a client saw complete once, and so has the budget', async (t) => {
    const scene = await useKills(t, { workers: 1 })
    await scene.kill({ calls: 60 })
    assert.ok(readdirSync(scene.folder).some((name) => name.endsWith('.journal')))
    await scene.drain()
    const stored = scene.stored()
    assert.ok(scene.complete.length >= 30)
    assert.deepEqual(
      scene.complete.filter((model) => stored.get(model) !== 1),
      [],
    )
    assert.equal(scene.spent() / CENT, stored.size)
    assert.deepEqual(
      readdirSync(scene.folder).filter((name) => /\.(?:journal|lock)$/.test(name)),
      [],
      'a gateway that has ended leaves no journals',
    )
  })
})
