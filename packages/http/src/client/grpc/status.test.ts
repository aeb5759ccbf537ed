import assert from 'node:assert/strict'
import { test } from 'node:test'
import { grpcStatusOfReset } from './status.ts'

test('a reset stream has the status in the table of the gRPC protocol', () => {
  const statuses = Array.from({ length: 15 }, (_, code) => grpcStatusOfReset(code))
  assert.deepEqual(statuses, [13, 13, 13, 13, 13, 13, 13, 14, 1, 13, 13, 8, 7, 13, 13])
  assert.equal(grpcStatusOfReset(null), 14)
})
