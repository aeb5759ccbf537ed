import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { labelValue, objectName } from './names.ts'

/** Names that the API server accepts for a Gateway. */
const gatewayName = fc
  .stringMatching(/^[a-z0-9]([-a-z0-9]{0,120}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,60}[a-z0-9])?){0,2}$/)
  .filter((name) => name.length <= 253)

describe('names of deployed objects', () => {
  it('are valid for Services and labels', () => {
    fc.assert(
      fc.property(gatewayName, (name) => {
        assert.match(objectName(name), /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/)
        assert.match(labelValue(name), /^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$/)
      }),
      { numRuns: 2_000 },
    )
  })

  it('are the name of the Gateway when that is valid', () => {
    const longest = 'a'.repeat(63)
    assert.deepEqual([objectName('edge'), objectName(longest)], ['edge', longest])
    assert.equal(objectName(`${'a'.repeat(49)}-${'b'.repeat(14)}`), `${'a'.repeat(49)}-85d312e18bd0`)
  })

  it('are unique per Gateway', () => {
    const names = ['a.b', 'a-b', '1', 'gw-1', 'x'.repeat(64), 'x'.repeat(65), `${'x'.repeat(64)}.y`]
    assert.equal(new Set(names.map(objectName)).size, names.length)
    assert.equal(new Set(names.map(labelValue)).size, names.length)
  })
})
