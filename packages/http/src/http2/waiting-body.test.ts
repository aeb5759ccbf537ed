import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { WaitingBody } from './waiting-body.ts'

test('waiting data comes out in order, once', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 20_000 })), (chunks) => {
      const body = new WaitingBody()
      const whole = Buffer.concat(chunks)
      for (const chunk of chunks) body.add(Buffer.from(chunk))
      assert.equal(body.size, whole.length)
      assert.ok(Buffer.concat(body.takeAll()).equals(whole))
      assert.deepEqual([body.size, body.takeAll()], [0, []])
    }),
    { seed: 7, numRuns: 200 },
  )
})

test('small pieces keep neither the reads they came with nor a buffer each', () => {
  const body = new WaitingBody()
  for (let i = 0; i < 10_000; i++) body.add(Buffer.allocUnsafeSlow(4_096).subarray(0, 10))
  const blocks = body.takeAll()
  const kept = blocks.reduce((sum, block) => sum + block.buffer.byteLength, 0)
  assert.ok(blocks.length < 50, `${blocks.length} blocks`)
  assert.ok(kept < 200_000, `${kept} bytes are kept for 100,000`)
})

test('a large piece is kept as it is', () => {
  const body = new WaitingBody()
  const large = Buffer.allocUnsafeSlow(16_384)
  body.add(large)
  assert.equal(body.takeAll()[0], large)
})

test('a large piece is copied where it would keep more than 32 times as much', () => {
  for (const [times, isKept] of [
    [32, true],
    [33, false],
  ] as const) {
    const body = new WaitingBody()
    const piece = Buffer.from(new ArrayBuffer(8_192 * times), 0, 8_192).fill(7)
    body.add(piece)
    const [block] = body.takeAll()
    assert.equal(block?.buffer === piece.buffer, isKept, `${times} times`)
    assert.deepEqual(block, piece)
  }
})

test('data before and after a large piece stays in order', () => {
  const body = new WaitingBody()
  for (const text of ['a', 'b', 'L'.repeat(8_192), 'c', 'd']) body.add(Buffer.from(text))
  assert.equal(Buffer.concat(body.takeAll()).toString(), `ab${'L'.repeat(8_192)}cd`)
})
