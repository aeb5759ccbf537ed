import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { CENT, useKills } from './test-kill-scene.ts'

const KILLS = 20
const CALLS = 500

describe('a ledger whose gateway is killed in the middle of calls', () => {
  for (const workers of [1, 2]) {
    test(`has each call that a client saw complete once, and so has the budget, with ${workers} workers`, async (t) => {
      const scene = await useKills(t, { workers })
      const kills = process.env['KILLS'] === undefined ? KILLS : Number(process.env['KILLS'])
      for (let i = 0; i < kills; i++) await scene.kill({ calls: CALLS })
      await scene.drain()
      const stored = scene.stored()
      const twice = [...stored].filter(([, count]) => count !== 1)
      const lost = scene.complete.filter((model) => !stored.has(model))
      t.diagnostic(`${scene.calls()} calls, ${scene.complete.length} complete, ${stored.size} stored`)
      assert.deepEqual([twice, lost], [[], []])
      assert.equal(scene.spent() / CENT, stored.size)
    })
  }
})
