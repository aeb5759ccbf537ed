import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seeded } from '../../testing/seeded.ts'
import { createRing, readRing, ringUse, RingWriter } from './ring.ts'

function write(writer: RingWriter, text: string): void {
  const offset = writer.reserve(8 + 3 * text.length)
  const bytes = writer.bytes.write(text, offset + 8, 'utf8')
  writer.u32[(offset >>> 2) + 1] = bytes
  writer.publish(offset, 8 + bytes)
}

function texts(entries: readonly Buffer[]): string[] {
  return entries.map((entry) => entry.toString('utf8', 8, 8 + entry.readUInt32LE(4)))
}

test('a ring holds the newest entries whole, whatever their sizes', () => {
  const random = seeded(1)
  const memory = createRing(64 * 1024)
  const writer = new RingWriter(memory)
  const written: string[] = []
  for (let i = 0; i < 5000; i++) {
    written.push(`${i} ${'ä'.repeat(Math.floor(random() * 200))}`)
    write(writer, written.at(-1)!)
    if (i % 97 !== 0) continue
    const found = texts(readRing(memory).entries)
    assert.deepEqual(found, written.slice(-found.length))
  }
  const { bytes, maxBytes } = ringUse(memory)
  assert.equal(maxBytes, 64 * 1024)
  assert.ok(bytes > 0.8 * maxBytes && bytes <= maxBytes, String(bytes))
  assert.ok(texts(readRing(memory).entries).length > 100)
})

test('a read from a position returns later entries, and reports lost ones', () => {
  const memory = createRing(64 * 1024)
  const writer = new RingWriter(memory)
  write(writer, 'first')
  const { position } = readRing(memory)
  write(writer, 'second')
  const next = readRing(memory, position)
  assert.deepEqual([texts(next.entries), next.hasLost], [['second'], false])
  assert.deepEqual(readRing(memory, next.position).entries, [])
  for (let i = 0; i < 3000; i++) write(writer, `many ${i} ${'x'.repeat(40)}`)
  const late = readRing(memory, next.position)
  assert.equal(late.hasLost, true)
  assert.equal(texts(late.entries).at(-1), `many 2999 ${'x'.repeat(40)}`)
})

test('positions survive the wrap of their 32 bits', () => {
  const memory = createRing(64 * 1024)
  // As after two billion units: both stand at the same place in the memory as zero does.
  new Int32Array(memory, 0, 2).fill(0x7fff_e000)
  const writer = new RingWriter(memory)
  const written = Array.from({ length: 2000 }, (_, i) => `entry ${i} ${'y'.repeat(i % 50)}`)
  for (const text of written) write(writer, text)
  const found = texts(readRing(memory).entries)
  assert.ok(found.length > 500, String(found.length))
  assert.deepEqual(found, written.slice(-found.length))
})

test('another writer goes on where one stopped', () => {
  const memory = createRing(64 * 1024)
  write(new RingWriter(memory), 'one')
  write(new RingWriter(memory), 'two')
  assert.deepEqual(texts(readRing(memory).entries), ['one', 'two'])
})
