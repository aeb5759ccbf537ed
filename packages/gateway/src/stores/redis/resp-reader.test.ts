import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { RedisFailure, type RedisReply, RespReader } from './resp-reader.ts'

function encode(reply: RedisReply): string {
  if (reply === null) return '$-1\r\n'
  if (typeof reply === 'number') return `:${reply}\r\n`
  if (typeof reply === 'string') return `$${Buffer.byteLength(reply)}\r\n${reply}\r\n`
  if (reply instanceof RedisFailure) return `-${reply.code} something\r\n`
  return `*${reply.length}\r\n${reply.map(encode).join('')}`
}

const { reply } = fc.letrec<{ reply: RedisReply }>((tie) => ({
  reply: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.integer(),
    fc.string({ unit: 'grapheme' }),
    fc.constant(null),
    fc.constantFrom('WRONGPASS', 'ERR').map((code) => new RedisFailure(`${code} x`)),
    fc.array(tie('reply'), { maxLength: 5 }),
  ),
}))

test('replies are read alike, wherever the bytes are cut', () => {
  fc.assert(
    fc.property(fc.array(reply, { maxLength: 4 }), fc.array(fc.nat(), { maxLength: 8 }), (replies, cuts) => {
      const bytes = Buffer.from(replies.map(encode).join(''))
      const places = cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b)
      const reader = new RespReader()
      const read = [...places, bytes.length].flatMap((end, i) => reader.push(bytes.subarray(places[i - 1] ?? 0, end)))
      assert.deepEqual(read, replies)
    }),
  )
})

test('bytes that are no replies are refused, and never endless', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 64 }), { maxLength: 8 }), (chunks) => {
      const reader = new RespReader()
      try {
        for (const chunk of chunks) reader.push(Buffer.from(chunk))
      } catch (error) {
        assert.ok(error instanceof Error)
      }
    }),
  )
  for (const text of ['x', ':1x\r\n', '$-2\r\n', '$99999999\r\n', '*99999\r\n', '$1\r\nabc\r\n', '*1\r\n'.repeat(9)]) {
    assert.throws(() => new RespReader().push(Buffer.from(`${text}\r\n`)), Error, text)
  }
  assert.throws(() => new RespReader().push(Buffer.alloc(100_000, '+')), /too long/)
})

test('an error is known by its code alone, because its text may repeat a password', () => {
  const [failure] = new RespReader().push(Buffer.from('-ERR unknown command `AUTH`, with args: `hunter2`\r\n'))
  assert.ok(failure instanceof RedisFailure)
  assert.equal(failure.code, 'ERR')
  assert.doesNotMatch(JSON.stringify(failure), /hunter2/)
})
