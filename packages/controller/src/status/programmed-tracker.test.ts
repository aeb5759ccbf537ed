import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ProgrammedTracker, type Standing } from './programmed-tracker.ts'

const nobody: Standing = {
  generation: 1,
  connected: 0,
  notServing: 0,
  acknowledged: false,
  ready: 0,
  isReadyKnown: true,
  isIncomplete: false,
  saidBefore: false,
}
const taken: Standing = { ...nobody, connected: 1, acknowledged: true, ready: 1 }

describe('whether a Gateway is programmed', () => {
  it('is unknown before a data plane acknowledges its config', () => {
    const programmed = new ProgrammedTracker()
    assert.equal(programmed.judge('shop/web', nobody), 'pending')
    assert.equal(programmed.judge('shop/web', { ...nobody, connected: 1, ready: 1 }), 'pending')
    assert.equal(programmed.judge('shop/web', taken), 'programmed')
  })

  it('stays true while routes change, and while data planes reconnect', () => {
    const programmed = new ProgrammedTracker()
    programmed.judge('shop/web', taken)
    assert.equal(programmed.judge('shop/web', { ...taken, acknowledged: false }), 'programmed')
    assert.equal(programmed.judge('shop/web', { ...taken, acknowledged: false, connected: 0 }), 'programmed')
    assert.equal(programmed.judge('shop/web', nobody), 'lost')
    assert.equal(programmed.judge('shop/web', taken), 'programmed')
  })

  it('becomes false when no data plane serves it', () => {
    const programmed = new ProgrammedTracker()
    programmed.judge('shop/web', taken)
    const judge = (standing: Partial<Standing>) =>
      programmed.judge('shop/web', { ...taken, acknowledged: false, ...standing })
    // The readiness probe has not failed yet.
    assert.equal(judge({ notServing: 1 }), 'lost')
    assert.equal(judge({ notServing: 1, ready: 0 }), 'lost')
    assert.equal(judge({ notServing: 1, connected: 2 }), 'programmed')
    assert.equal(judge({ notServing: 1, ready: 2 }), 'programmed')
    assert.equal(judge({ notServing: 2, connected: 2, ready: 2 }), 'lost')
    assert.equal(judge({ notServing: 1, ready: 1, isIncomplete: true, saidBefore: true }), 'lost')
    assert.equal(judge({}), 'programmed')
  })

  it('is undecided when the Gateway changed and no data plane answered', () => {
    const programmed = new ProgrammedTracker()
    programmed.judge('shop/web', taken)
    const changed = { ...taken, acknowledged: false, generation: 2 }
    assert.equal(programmed.judge('shop/web', changed), 'unanswered')
    assert.equal(programmed.judge('shop/web', { ...changed, acknowledged: true }), 'programmed')
    programmed.forget('shop/web')
    assert.equal(programmed.judge('shop/web', changed), 'pending')
  })

  it('is not assumed for ready Pods that reported nothing, nor withdrawn while a controller is unreachable', () => {
    const judge = (standing: Partial<Standing>) =>
      new ProgrammedTracker().judge('shop/web', { ...nobody, ready: 2, ...standing })
    assert.equal(judge({}), 'pending')
    assert.equal(judge({ isIncomplete: true }), 'pending')
    assert.equal(judge({ saidBefore: true }), 'programmed')
    assert.equal(judge({ connected: 1 }), 'pending')
    assert.equal(judge({ saidBefore: true, connected: 1, isIncomplete: true }), 'programmed')
    assert.equal(judge({ saidBefore: true, isIncomplete: true, ready: 0 }), 'lost')
  })

  it('is undecided after a restart of the controller, until data planes answer and workloads are read', () => {
    const judge = (standing: Partial<Standing>) =>
      new ProgrammedTracker().judge('shop/web', { ...nobody, saidBefore: true, ...standing })
    assert.equal(judge({ connected: 1, ready: 1 }), 'unanswered')
    assert.equal(judge({ isReadyKnown: false }), 'unanswered')
    assert.equal(judge({ isReadyKnown: false, saidBefore: false }), 'pending')
    assert.equal(judge({}), 'lost')
  })
})
