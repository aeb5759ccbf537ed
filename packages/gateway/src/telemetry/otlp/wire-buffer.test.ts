import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BinaryReader, WireType } from '@bufbuild/protobuf/wire'
import * as fc from 'fast-check'
import { attributeName, writeAttribute } from './attributes.ts'
import { WireBuffer } from './wire-buffer.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

test('a field whose length is known late has the shortest prefix, whatever stands before it', () => {
  const size = fc.oneof(fc.nat(300), fc.constantFrom(127, 128, 16_383, 16_384), fc.nat(70_000))
  fc.assert(
    fc.property(fc.array(size, { minLength: 1, maxLength: 4 }), fc.nat(64), (sizes, room) => {
      const wire = new WireBuffer(room)
      const expected: Buffer[] = []
      for (const [i, length] of sizes.entries()) {
        const content = Buffer.alloc(length, i + 1)
        const start = wire.length
        wire.open(0x12)
        wire.raw(content)
        wire.close(start)
        const prefixed = new WireBuffer()
        prefixed.varint(length)
        expected.push(Buffer.from([0x12]), prefixed.take(), content)
      }
      assert.ok(wire.take().equals(Buffer.concat(expected)))
    }),
  )
})

test('bytes that are cut off are dropped, and bytes that are taken stay', () => {
  const wire = new WireBuffer(2)
  wire.raw(Buffer.from('abcd'))
  wire.cut(2)
  wire.raw(Buffer.from('ef'))
  const taken = wire.take()
  wire.raw(Buffer.from('wxyz'))
  assert.deepEqual([taken.toString(), wire.view().toString(), wire.view(2).toString()], ['abef', 'wxyz', 'yz'])
})

test('times are whole nanoseconds of any millisecond', () => {
  const millis = fc.oneof(fc.integer({ min: 0, max: 2 ** 43 }), fc.double({ min: 0, max: 2 ** 43, noNaN: true }))
  fc.assert(
    fc.property(millis, (time) => {
      const wire = new WireBuffer()
      wire.nanos(time)
      const whole = Math.floor(time)
      const expected = BigInt(whole) * 1_000_000n + BigInt(Math.round((time - whole) * 1_000_000))
      assert.equal(wire.take().readBigUInt64LE(), expected)
    }),
  )
})

test('counts of eight bytes hold what a double holds', () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), (count) => {
      const wire = new WireBuffer()
      wire.fixed64(count)
      assert.equal(wire.take().readBigUInt64LE(), BigInt(count))
    }),
  )
})

test('attributes of any text read as they were written, short or long', () => {
  const text = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 200 }),
    fc.string({ unit: 'binary-ascii', maxLength: 140 }),
    fc.string({ unit: fc.constantFrom('a', 'ä', '\u0100', '\ud83d\ude00'), maxLength: 140 }),
  )
  fc.assert(
    fc.property(text, fc.string({ unit: 'binary-ascii', maxLength: 130 }), (value, name) => {
      const wire = new WireBuffer(1)
      writeAttribute(wire, 0x4a, attributeName(name), value)
      const outer = new BinaryReader(wire.take())
      assert.deepEqual(outer.tag(), [9, WireType.LengthDelimited])
      const pair = new BinaryReader(outer.bytes())
      assert.equal(outer.pos, outer.len)
      assert.deepEqual([pair.tag(), pair.string()], [[1, WireType.LengthDelimited], name])
      assert.deepEqual(pair.tag(), [2, WireType.LengthDelimited])
      const inner = new BinaryReader(pair.bytes())
      assert.equal(pair.pos, pair.len)
      assert.deepEqual([inner.tag(), inner.string()], [[1, WireType.LengthDelimited], value.toWellFormed()])
      assert.equal(inner.pos, inner.len)
    }),
  )
})

test('attributes of any number read as they were written, small or large', () => {
  const edges = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, 0x1f_ffff, 0x20_0000, 2 ** 31, 2 ** 32, 2 ** 53 - 1, -1, -0]
  const number = fc.oneof(fc.constantFrom(...edges), fc.nat(0x40_0000), fc.maxSafeInteger())
  fc.assert(
    fc.property(number, fc.string({ unit: 'binary-ascii', maxLength: 130 }), (value, name) => {
      const wire = new WireBuffer(1)
      writeAttribute(wire, 0x4a, attributeName(name), value)
      const outer = new BinaryReader(wire.take())
      outer.tag()
      const pair = new BinaryReader(outer.bytes())
      assert.equal(outer.pos, outer.len)
      assert.deepEqual([pair.tag(), pair.string()], [[1, WireType.LengthDelimited], name])
      assert.deepEqual(pair.tag(), [2, WireType.LengthDelimited])
      const inner = new BinaryReader(pair.bytes())
      assert.equal(pair.pos, pair.len)
      assert.deepEqual(inner.tag(), [3, WireType.Varint])
      assert.equal(BigInt(inner.int64()), BigInt(value))
      assert.equal(inner.pos, inner.len)
    }),
  )
})
