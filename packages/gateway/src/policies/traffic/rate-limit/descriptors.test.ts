import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelError, Double, Uint } from '@portico/cel'
import { wholeNumber } from './descriptors.ts'

test('a cost is a whole number that the service can count, or none', () => {
  for (const [result, hits] of [
    [0n, 0],
    [3n, 3],
    [new Uint(4n), 4],
    [new Double(2.1), 3],
    ['12', 12],
    ['1.5', 2],
    [BigInt(Number.MAX_SAFE_INTEGER), Number.MAX_SAFE_INTEGER],
    [BigInt(Number.MAX_SAFE_INTEGER) + 1n, null],
    [-1n, null],
    [new Double(Number.NaN), null],
    [new Double(Infinity), null],
    ['many', null],
    [true, null],
    [null, null],
    [[1n], null],
  ] as const) {
    assert.equal(wholeNumber(result as Parameters<typeof wholeNumber>[0]), hits, typeof result)
  }
  assert.equal(wholeNumber(new CelError('no_such_key', 'x')), null)
})
