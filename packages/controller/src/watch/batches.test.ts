import assert from 'node:assert/strict'
import { setImmediate as turn } from 'node:timers/promises'
import { describe, it } from 'node:test'
import { eventually } from '../testing/eventually.ts'
import { Batches } from './batches.ts'

describe('changes in batches', () => {
  it('run at once for a single change, and together for several', async () => {
    let runs = 0
    const atOnce = (): number => 0
    const batches = new Batches(() => (runs += 1), atOnce)
    for (let times = 0; times < 10; times++) batches.add()
    assert.equal(runs, 0)
    await turn()
    assert.equal(runs, 1)
    batches.add()
    await turn()
    assert.equal(runs, 2)
  })

  it('leave the event loop free for as long as they took', async () => {
    let [now, runs] = [0, 0]
    const work = (): void => {
      runs += 1
      now += 40
    }
    const batches = new Batches(work, () => now)
    batches.add()
    await turn()
    assert.equal(runs, 1)
    batches.add()
    await turn()
    assert.equal(runs, 1)
    await eventually('it is done after the rest', () => runs === 2)
  })

  it('are dropped after stop', async () => {
    const batches = new Batches(() => assert.fail('it is over'))
    batches.add()
    batches.stop()
    await turn()
  })
})
