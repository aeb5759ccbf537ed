import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readTraceparent } from '../traceparent.ts'

const traceId = '0af7651916cd43dd8448eb211c80319c'
const spanId = 'b7ad6b7169203331'

test('ids and the flag that counts are read', () => {
  assert.deepEqual(readTraceparent(`00-${traceId}-${spanId}-01`), { traceId, spanId, flags: 1 })
  assert.deepEqual(readTraceparent(`00-${traceId}-${spanId}-00`), { traceId, spanId, flags: 0 })
  assert.deepEqual(readTraceparent(`cc-${traceId}-${spanId}-03-more`), { traceId, spanId, flags: 1 })
})

test('anything else says nothing', () => {
  const wrong = [
    null,
    '',
    `00-${traceId}-${spanId}`,
    `00-${traceId}-${spanId}-01-more`,
    `ff-${traceId}-${spanId}-01`,
    `00-${'0'.repeat(32)}-${spanId}-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `00-${traceId.toUpperCase()}-${spanId}-01`,
    `00-${traceId}-${spanId}-1`,
    `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`,
  ]
  for (const text of wrong) assert.equal(readTraceparent(text), null, String(text))
})
