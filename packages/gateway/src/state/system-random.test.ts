import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { systemRandom } from './system-random.ts'

describe('random bytes of the system', () => {
  test('have the requested size and differ', () => {
    for (const size of [8, 16, 32]) assert.equal(systemRandom(size).length, size)
    assert.notDeepEqual(systemRandom(32), systemRandom(32))
  })

  test('come from the cryptographic module where the device is missing or ends early', () => {
    for (const device of ['/dev/no-such-device', '/dev/null', '/']) {
      const [one, other] = [systemRandom(32, device), systemRandom(32, device)]
      assert.equal(one.length, 32)
      assert.notDeepEqual(one, other)
      assert.notDeepEqual(one, Buffer.alloc(32))
    }
  })
})
