import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Script } from 'node:vm'
import { atStart, beginStart, endStart } from './start-flags.ts'

/** V8 takes a code cache for every text of the same length, and keeps texts that it has compiled. */
const textOf = (serial: number): string => `(() => ${String(serial).padStart(3)})()`
const cachedData = new Script(textOf(0)).createCachedData()
let texts = 0

/** Whether V8 compiles under other flags than those of the process: then it rejects a code cache. */
function hasOtherFlags(): boolean {
  return new Script(textOf(++texts), { cachedData }).cachedDataRejected === true
}

describe('flags of a start', () => {
  test('hold for the work of a start, and not after it', () => {
    beginStart()
    assert.equal(atStart(hasOtherFlags), true)
    assert.equal(hasOtherFlags(), false)
    endStart()
    assert.equal(atStart(hasOtherFlags), false)
  })

  test('do not stay when the work fails', () => {
    const fail = (): never => {
      throw new Error('here')
    }
    beginStart()
    assert.throws(() => atStart(fail), /here/)
    assert.equal(hasOtherFlags(), false)
    endStart()
  })
})
