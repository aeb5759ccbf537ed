import assert from 'node:assert/strict'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { GatheringWriter } from './gathering-writer.ts'

test('a head and a small body leave in one write', () => {
  const { writer, writes } = recorder()
  writer.text('HTTP/1.1 200 OK\r\n\r\n')
  writer.bytes(Buffer.from('hello'))
  assert.equal(writer.pending, 24)
  assert.deepEqual(writes, [])
  assert.equal(writer.flush(), true)
  assert.deepEqual(writes, ['HTTP/1.1 200 OK\r\n\r\nhello'])
  assert.equal(writer.pending, 0)
  assert.equal(writer.sent, 24)
})

test('pieces keep their order, whatever their sizes', () => {
  const { writer, writes } = recorder()
  const text = 'b'.repeat(5000)
  const big = Buffer.from(text)
  writer.text('a')
  writer.bytes(big)
  writer.text('c')
  writer.bytes(Buffer.from('d'))
  writer.bytes(big)
  writer.text('e')
  writer.flush()
  assert.equal(writes.length, 1, 'one gathered write')
  assert.equal(writes[0], `a${text}cd${text}e`)
  assert.equal(writer.sent, 10_004)
})

test('every byte value passes unchanged, as text and as bytes', () => {
  const { writer, writes } = recorder()
  const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
  writer.text(all.toString('latin1'))
  writer.bytes(all)
  writer.flush()
  assert.equal(writes.join(''), all.toString('latin1').repeat(2))
})

test('a body alone is handed over without a copy', () => {
  const taken: Buffer[] = []
  const socket = new Writable({ write: (chunk: Buffer, _, done) => (taken.push(chunk), done()) })
  const writer = new GatheringWriter(socket)
  const bodies: Buffer[] = [Buffer.alloc(8000), Buffer.alloc(80)]
  for (const body of bodies) {
    writer.bytes(body)
    writer.flush()
  }
  assert.deepEqual(
    taken.map((body) => bodies.indexOf(body)),
    [0, 1],
  )
})

test('texts, bytes and chunks keep their order and framing, each flush in one write', () => {
  const piece = fc.record({
    kind: fc.constantFrom('text', 'bytes', 'chunk'),
    text: fc.string({ unit: fc.constantFrom('a', '\xff', '\r'), minLength: 1, maxLength: 20 }),
    times: fc.constantFrom(1, 1, 1, 500),
  })
  fc.assert(
    fc.property(fc.array(fc.array(piece, { minLength: 1, maxLength: 5 }), { maxLength: 4 }), (flushes) => {
      const { writer, writes } = recorder()
      const expected = flushes.map((pieces) => {
        let all = ''
        for (const { kind, text, times } of pieces) {
          const whole = text.repeat(times)
          if (kind === 'text') writer.text(whole)
          else if (kind === 'bytes') writer.bytes(Buffer.from(whole, 'latin1'))
          else writer.chunk(Buffer.from(whole, 'latin1'))
          all += kind === 'chunk' ? `${whole.length.toString(16)}\r\n${whole}\r\n` : whole
        }
        assert.equal(writer.pending, all.length)
        writer.flush()
        return all
      })
      assert.deepEqual(writes, expected)
      assert.equal(writer.sent, expected.join('').length)
    }),
    { seed: 11, numRuns: 300 },
  )
})

test('flush says when the socket is full, and an empty flush repeats it', () => {
  let release: (() => void) | null = null
  const socket = new Writable({ highWaterMark: 100, write: (_chunk, _encoding, done) => (release = done) })
  const writer = new GatheringWriter(socket)
  writer.text('x'.repeat(50))
  assert.equal(writer.flush(), true)
  writer.bytes(Buffer.alloc(6000))
  assert.equal(writer.flush(), false)
  assert.equal(writer.flush(), false)
  assert.notEqual(release, null)
  socket.destroy()
})

test('a gathered write of several pieces reports a full socket too', () => {
  const socket = new Writable({ highWaterMark: 100, write: () => {}, writev: () => {} })
  const writer = new GatheringWriter(socket)
  writer.text('head')
  writer.bytes(Buffer.alloc(6000))
  assert.equal(writer.flush(), false)
  assert.equal(socket.writableNeedDrain, true)
  socket.destroy()
})

function recorder(): { writer: GatheringWriter; writes: string[] } {
  const writes: string[] = []
  const socket = new Writable({
    highWaterMark: 1 << 20,
    decodeStrings: true,
    write: (chunk: Buffer, _, done) => (writes.push(chunk.toString('latin1')), done()),
    writev: (chunks: { chunk: Buffer }[], done) => {
      writes.push(chunks.map(({ chunk }) => chunk.toString('latin1')).join(''))
      done()
    },
  })
  return { writer: new GatheringWriter(socket), writes }
}
