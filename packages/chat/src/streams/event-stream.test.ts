import assert from 'node:assert/strict'
import { test } from 'node:test'
import { crc32 } from 'node:zlib'
import * as fc from 'fast-check'
import { EventStreamReader, MAX_MESSAGE_SIZE } from './event-stream.ts'
import { eventStreamMessage, textHeader } from '../testing/event-stream-message.ts'

interface Read {
  headers: [string, string][]
  payload: string
}

function read(reader: EventStreamReader, bytes: Buffer): Read[] {
  return reader.push(bytes).map(({ headers, payload }) => ({ headers: [...headers], payload: payload.toString() }))
}

/** A message as AWS documents it, written out byte by byte. */
const documented = Buffer.from(
  '0000003d' + // 61 bytes in all
    '00000020' + // of which 32 are headers
    '07fd83960c' + // checksum of the 8 bytes before it; then a name of 12 bytes
    Buffer.from('content-type').toString('hex') +
    '070010' + // a text of 16 bytes
    Buffer.from('application/json').toString('hex') +
    Buffer.from("{'foo':'bar'}").toString('hex') +
    '8d9c08b1',
  'hex',
)

test('a message written by hand is read', () => {
  assert.deepEqual(read(new EventStreamReader(), documented), [
    { headers: [['content-type', 'application/json']], payload: "{'foo':'bar'}" },
  ])
})

test('an empty message has no headers and no payload', () => {
  assert.deepEqual(read(new EventStreamReader(), Buffer.from('000000100000000005c248eb7d98c8ff', 'hex')), [
    { headers: [], payload: '' },
  ])
})

test('headers of every type are stepped over, texts are kept', () => {
  const headers = Buffer.concat([
    header('yes', 0, Buffer.alloc(0)),
    header('no', 1, Buffer.alloc(0)),
    header('byte', 2, Buffer.alloc(1)),
    header('short', 3, Buffer.alloc(2)),
    header('int', 4, Buffer.alloc(4)),
    header('long', 5, Buffer.alloc(8)),
    header('bytes', 6, Buffer.from([0, 3, 1, 2, 3])),
    header('time', 8, Buffer.alloc(8)),
    header('uuid', 9, Buffer.alloc(16)),
    textHeader(':event-type', 'metadata'),
  ])
  assert.deepEqual(read(new EventStreamReader(), eventStreamMessage(headers, Buffer.from('x'))), [
    { headers: [[':event-type', 'metadata']], payload: 'x' },
  ])
})

test('every malformed header is a failure', () => {
  const malformed = [
    header('name', 10, Buffer.alloc(4)),
    header('name', 7, Buffer.from([0])),
    header('name', 7, Buffer.from([0, 9, 0])),
    header('name', 5, Buffer.alloc(7)),
    Buffer.from([200, 1]),
    Buffer.from([1, 65]),
  ]
  for (const headers of malformed) {
    const reader = new EventStreamReader()
    assert.deepEqual(reader.push(eventStreamMessage(headers, Buffer.alloc(0))), [])
    assert.equal(reader.failure, 'a header is malformed')
  }
})

test('any changed byte is noticed, and nothing is read after it', () => {
  fc.assert(
    fc.property(messages, fc.nat(), fc.integer({ min: 1, max: 255 }), (list, where, flip) => {
      const bytes = Buffer.concat(list.map(bytesOf))
      const at = where % bytes.length
      bytes.writeUInt8(bytes.readUInt8(at) ^ flip, at)
      const reader = new EventStreamReader()
      const before = read(reader, bytes)
      assert.notEqual(reader.failure, null)
      assert.deepEqual(before, list.slice(0, before.length))
      assert.deepEqual(reader.push(documented), [])
    }),
  )
})

test('a message may be cut at every byte', () => {
  fc.assert(
    fc.property(messages, (list) => {
      const bytes = Buffer.concat(list.map(bytesOf))
      for (let cut = 0; cut <= bytes.length; cut++) {
        const reader = new EventStreamReader()
        const got = [...read(reader, bytes.subarray(0, cut)), ...read(reader, bytes.subarray(cut))]
        assert.deepEqual(got, list)
        assert.equal(reader.isPartial, false)
      }
    }),
    { numRuns: 20 },
  )
})

test('messages arrive byte by byte, in a buffer that is used again', () => {
  fc.assert(
    fc.property(messages, (list) => {
      const reader = new EventStreamReader()
      const byte = Buffer.alloc(1)
      const got: Read[] = []
      for (const value of Buffer.concat(list.map(bytesOf))) {
        byte[0] = value
        got.push(...read(reader, byte))
      }
      assert.deepEqual(got, list)
    }),
    { numRuns: 30 },
  )
})

test('bytes of any kind never throw, and are remembered as a failure or as unfinished', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (chunks) => {
      const reader = new EventStreamReader()
      for (const chunk of chunks) reader.push(Buffer.from(chunk))
      const isEmpty = chunks.every((chunk) => chunk.length === 0)
      assert.equal(reader.failure !== null || reader.isPartial, !isEmpty)
    }),
  )
})

test('a message larger than the limit is refused before any of it is held', () => {
  // A payload of 24 MiB and 128 KiB of headers, with 16 bytes of lengths and checksums.
  const largest = 25_296_912
  assert.equal(MAX_MESSAGE_SIZE, largest)
  const failureFor = (size: number): string | null => {
    const prelude = Buffer.alloc(12)
    prelude.writeUInt32BE(size, 0)
    prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
    const reader = new EventStreamReader()
    reader.push(prelude)
    return reader.failure
  }
  assert.equal(failureFor(largest), null)
  assert.equal(failureFor(largest + 1), `a message of ${largest + 1} bytes is larger than ${largest}`)
})

test('lengths that contradict each other are refused', () => {
  for (const [size, headers] of [
    [0, 0],
    [15, 0],
    [16, 1],
    [100, 85],
    [16, 0xffffffff],
  ] as const) {
    const prelude = Buffer.alloc(12)
    prelude.writeUInt32BE(size, 0)
    prelude.writeUInt32BE(headers, 4)
    prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8)
    const reader = new EventStreamReader()
    reader.push(prelude)
    assert.equal(reader.failure, 'the lengths of a message contradict each other')
  }
})

const messages = fc.array(
  fc.record(
    {
      headers: fc.uniqueArray(fc.tuple(fc.string({ maxLength: 20 }), fc.string({ unit: 'grapheme', maxLength: 20 })), {
        selector: ([name]) => name,
        maxLength: 4,
      }),
      payload: fc.string({ unit: 'grapheme', maxLength: 60 }),
    },
    { noNullPrototype: true },
  ),
  { minLength: 1, maxLength: 4 },
)

function bytesOf({ headers, payload }: Read): Buffer {
  return eventStreamMessage(
    Buffer.concat(headers.map(([name, value]) => textHeader(name, value))),
    Buffer.from(payload),
  )
}

function header(name: string, type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([name.length]), Buffer.from(name), Buffer.from([type]), value])
}
