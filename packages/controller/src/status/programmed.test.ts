import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Programmed, type Standing } from './programmed.ts'

const nobody: Standing = {
  generation: 1,
  connected: 0,
  acknowledged: false,
  ready: 0,
  hasOthers: false,
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
    assert.equal(programmed.judge('shop/web', nobody), 'pending')
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

  it('is believed of data planes that are connected to other controllers, or were to one before', () => {
    const ready = { ...nobody, ready: 2 }
    assert.equal(new Programmed().judge('shop/web', ready), 'pending')
    assert.equal(new Programmed().judge('shop/web', { ...ready, hasOthers: true }), 'programmed')
    assert.equal(new Programmed().judge('shop/web', { ...ready, saidBefore: true }), 'programmed')
    assert.equal(new Programmed().judge('shop/web', { ...ready, connected: 1, saidBefore: true }), 'pending')
  })
})
