import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Programmed, type Standing } from './programmed.ts'

const nobody: Standing = {
  generation: 1,
  connected: 0,
  notServing: 0,
  acknowledged: false,
  ready: 0,
  isBlind: false,
  saidBefore: false,
}
const taken: Standing = { ...nobody, connected: 1, acknowledged: true, ready: 1 }

describe('whether a Gateway is programmed', () => {
  it('is not known before a data plane has taken its config', () => {
    const programmed = new Programmed()
    assert.equal(programmed.judge('shop/web', nobody), 'pending')
    assert.equal(programmed.judge('shop/web', { ...nobody, connected: 1, ready: 1 }), 'pending')
    assert.equal(programmed.judge('shop/web', taken), 'programmed')
  })

  it('stays so while routes change, and while data planes come back', () => {
    const programmed = new Programmed()
    programmed.judge('shop/web', taken)
    assert.equal(programmed.judge('shop/web', { ...taken, acknowledged: false }), 'programmed')
    assert.equal(programmed.judge('shop/web', { ...taken, acknowledged: false, connected: 0 }), 'programmed')
    assert.equal(programmed.judge('shop/web', nobody), 'lost')
    assert.equal(programmed.judge('shop/web', taken), 'programmed')
  })

  it('is taken back when no data plane serves that has taken it', () => {
    const programmed = new Programmed()
    programmed.judge('shop/web', taken)
    const judge = (standing: Partial<Standing>) =>
      programmed.judge('shop/web', { ...taken, acknowledged: false, ...standing })
    // The probe of the Pod has not failed yet.
    assert.equal(judge({ notServing: 1 }), 'lost')
    assert.equal(judge({ notServing: 1, ready: 0 }), 'lost')
    assert.equal(judge({ notServing: 1, connected: 2 }), 'programmed')
    assert.equal(judge({ notServing: 1, ready: 2 }), 'programmed')
    assert.equal(judge({ notServing: 2, connected: 2, ready: 2 }), 'lost')
    assert.equal(judge({ notServing: 1, ready: 1, isBlind: true, saidBefore: true }), 'lost')
    assert.equal(judge({}), 'programmed')
  })

  it('is open when the Gateway itself has changed and nobody has answered', () => {
    const programmed = new Programmed()
    programmed.judge('shop/web', taken)
    const changed = { ...taken, acknowledged: false, generation: 2 }
    assert.equal(programmed.judge('shop/web', changed), 'unanswered')
    assert.equal(programmed.judge('shop/web', { ...changed, acknowledged: true }), 'programmed')
    programmed.forget('shop/web')
    assert.equal(programmed.judge('shop/web', changed), 'pending')
  })

  it('is not believed of Pods that are ready and have said nothing, nor taken back while nobody can know', () => {
    const judge = (standing: Partial<Standing>) =>
      new Programmed().judge('shop/web', { ...nobody, ready: 2, ...standing })
    assert.equal(judge({}), 'pending')
    assert.equal(judge({ isBlind: true }), 'pending')
    assert.equal(judge({ saidBefore: true }), 'programmed')
    assert.equal(judge({ saidBefore: true, connected: 1 }), 'pending')
    assert.equal(judge({ saidBefore: true, connected: 1, isBlind: true }), 'programmed')
    assert.equal(judge({ saidBefore: true, isBlind: true, ready: 0 }), 'lost')
  })
})
