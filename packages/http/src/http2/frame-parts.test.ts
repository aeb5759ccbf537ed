import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as frames from './frames.ts'
import { HeadFrames } from './head-frames.ts'
import { clientSettings, readSettings, serverSettings } from './peer-settings.ts'
import { HIGHEST_STREAM, StreamTable } from './stream-table.ts'

/** Bytes in hexadecimal digits, with blanks between the fields. */
const joined = (text: string): string => text.replaceAll(' ', '')
const hex = (text: string): string => Buffer.from(text, 'latin1').toString('hex')

describe('frames on the wire', () => {
  test('have a length, a type, flags and a stream', () => {
    assert.equal(hex(frames.frameHead(0x010203, 4, 5, 0x7f060708)), joined('010203 04 05 7f060708'))
    assert.equal(hex(frames.resetFrame(0x01020304, frames.CANCEL)), joined('000004 03 00 01020304 00000008'))
    assert.equal(hex(frames.windowUpdateFrame(3, 0x7fffffff)), joined('000004 08 00 00000003 7fffffff'))
    assert.equal(hex(frames.pingFrame('abcdefgh', frames.ACK)), joined('000008 06 01 00000000') + hex('abcdefgh'))
    assert.equal(hex(frames.goawayFrame(5, 1)), joined('000008 07 00 00000000 00000005 00000001'))
    assert.equal(hex(frames.uint32(0xfedcba98)), 'fedcba98')
  })

  test('carry a block whole where it fits, and in pieces of which the last is marked', () => {
    const head = (length: number, type: number, flags: number) => frames.frameHead(length, type, flags, 3)
    assert.equal(frames.headersFrames(3, 'abcd', 1, 4), `${head(4, 1, 5)}abcd`)
    assert.equal(frames.headersFrames(3, 'abcde', 1, 4), `${head(4, 1, 1)}abcd${head(1, 9, 4)}e`)
    assert.equal(frames.headersFrames(3, 'abcdefgh', 0, 4), `${head(4, 1, 0)}abcd${head(4, 9, 4)}efgh`)
    assert.equal(
      frames.headersFrames(3, 'abcdefghi', 0, 4),
      `${head(4, 1, 0)}abcd${head(4, 9, 0)}efgh${head(1, 9, 4)}i`,
    )
  })

  test('name their errors', () => {
    assert.deepEqual([0, 1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 13, 14].map(frames.errorName), [
      ...['NO_ERROR', 'PROTOCOL_ERROR', 'INTERNAL_ERROR', 'FLOW_CONTROL_ERROR', 'STREAM_CLOSED', 'FRAME_SIZE_ERROR'],
      ...['REFUSED_STREAM', 'CANCEL', 'COMPRESSION_ERROR', 'CONNECT_ERROR', 'ENHANCE_YOUR_CALM', 'HTTP_1_1_REQUIRED'],
      'code 14',
    ])
  })
})

describe('a block of fields', () => {
  const { HEADERS, CONTINUATION, END_HEADERS, PADDED, PRIORITIZED, PROTOCOL_ERROR, ENHANCE_YOUR_CALM } = frames

  function take(heads: HeadFrames, type: number, flags: number, payload: Buffer, stream = 3): number {
    // The payload is in the middle of a read.
    const read = Buffer.concat([Buffer.from('<<'), payload, Buffer.from('>>')])
    return heads.take(type, flags, stream, read, 2, 2 + payload.length)
  }

  const blockOf = ({ bytes, start, end }: HeadFrames): string => bytes.toString('latin1', start, end)

  test('may come in one frame, with padding and a priority around it', () => {
    for (const [flags, payload] of [
      [0, 'fields'],
      [PADDED, '\x02fields..'],
      [PRIORITIZED, '\0\0\0\x01\x09fields'],
      [PADDED | PRIORITIZED, '\x01\0\0\0\x01\x09fields.'],
    ] as const) {
      const heads = new HeadFrames(100)
      assert.equal(take(heads, HEADERS, flags | END_HEADERS, Buffer.from(payload, 'latin1')), 0)
      assert.deepEqual([heads.isWhole, heads.stream, blockOf(heads)], [true, 3, 'fields'], payload)
      assert.equal(heads.flags, flags | END_HEADERS)
    }
  })

  test('may begin after a frame that has only a priority', () => {
    const heads = new HeadFrames(100)
    assert.equal(take(heads, HEADERS, PRIORITIZED, Buffer.from('\0\0\0\x01\x09', 'latin1')), 0)
    assert.equal(take(heads, CONTINUATION, END_HEADERS, Buffer.from('fields')), 0)
    assert.deepEqual([heads.isWhole, blockOf(heads)], [true, 'fields'])
  })

  test('is refused where padding or priority leave no room for themselves', () => {
    for (const [flags, payload, stream] of [
      [PADDED, '\x03ab', 3],
      [PADDED, '', 3],
      [PRIORITIZED, '\0\0\0\x01', 3],
      [PADDED | PRIORITIZED, '\x01\0\0\0\x01\x09', 3],
      [PRIORITIZED, '\0\0\0\x03\x09', 3],
      [PRIORITIZED, '\x80\0\0\x03\x09', 3],
      [0, 'a', 0],
    ] as const) {
      const heads = new HeadFrames(100)
      const code = take(heads, HEADERS, flags | END_HEADERS, Buffer.from(payload, 'latin1'), stream)
      assert.equal(code, PROTOCOL_ERROR, JSON.stringify(payload))
    }
    assert.equal(
      take(new HeadFrames(9), HEADERS, PADDED | END_HEADERS, Buffer.from('\x02ab', 'latin1')),
      0,
      'padding alone',
    )
  })

  test('may be continued by nothing but its own frames', () => {
    const heads = new HeadFrames(100)
    assert.equal(heads.allows(CONTINUATION, 3), false)
    assert.equal(heads.allows(HEADERS, 3), true)
    take(heads, HEADERS, 1, Buffer.from('one '))
    assert.equal(heads.isWhole, false)
    assert.deepEqual(
      [heads.allows(CONTINUATION, 3), heads.allows(CONTINUATION, 5), heads.allows(HEADERS, 3), heads.allows(0, 3)],
      [true, false, false, false],
    )
    take(heads, CONTINUATION, 0, Buffer.from('two '))
    assert.equal(heads.isWhole, false)
    take(heads, CONTINUATION, END_HEADERS, Buffer.from('three'))
    assert.deepEqual([heads.isWhole, heads.flags, blockOf(heads)], [true, 1, 'one two three'])
    take(heads, HEADERS, 0, Buffer.from('next '), 5)
    take(heads, CONTINUATION, END_HEADERS, Buffer.from('block'), 5)
    assert.deepEqual([heads.stream, blockOf(heads)], [5, 'next block'])
  })

  test('is limited in its size and in the number of its pieces', () => {
    const large = new HeadFrames(10)
    assert.equal(take(large, HEADERS, 0, Buffer.alloc(10)), 0)
    assert.equal(take(large, CONTINUATION, 0, Buffer.alloc(1)), ENHANCE_YOUR_CALM)
    const many = new HeadFrames(1_000)
    assert.equal(take(many, HEADERS, 0, Buffer.alloc(1)), 0)
    for (let piece = 1; piece < 64; piece++) assert.equal(take(many, CONTINUATION, 0, Buffer.alloc(1)), 0)
    assert.equal(take(many, CONTINUATION, 0, Buffer.alloc(1)), ENHANCE_YOUR_CALM)
  })
})

describe('settings', () => {
  function read(pairs: [number, number][], push: 0 | 1 = 1) {
    const bytes = Buffer.alloc(pairs.length * 6 + 4)
    for (const [index, [name, value]] of pairs.entries()) {
      bytes.writeUInt16BE(name, 2 + index * 6)
      bytes.writeUInt32BE(value, 4 + index * 6)
    }
    return readSettings(bytes, 2, bytes.length - 2, push)
  }

  test('are read as far as they matter', () => {
    assert.deepEqual(read([]), {})
    assert.deepEqual(
      read([
        [99, 7],
        [6, 1],
      ]),
      {},
    )
    assert.deepEqual(
      read([
        [1, 100],
        [3, 5],
        [4, 2 ** 31 - 1],
        [5, 16_384],
        [8, 1],
      ]),
      {
        headerTableSize: 100,
        maxStreams: 5,
        initialWindowSize: 2 ** 31 - 1,
        maxFrameSize: 16_384,
        takesTunnels: true,
      },
    )
    assert.deepEqual(
      read([
        [1, 100],
        [1, 50],
        [1, 70],
        [5, 2 ** 24 - 1],
        [8, 0],
      ]),
      {
        headerTableSize: 50,
        maxFrameSize: 2 ** 24 - 1,
        takesTunnels: false,
      },
    )
  })

  test('are refused where a value must not be', () => {
    for (const [pair, code] of [
      [[2, 2], frames.PROTOCOL_ERROR],
      [[4, 2 ** 31], frames.FLOW_CONTROL_ERROR],
      [[5, 16_383], frames.PROTOCOL_ERROR],
      [[5, 2 ** 24], frames.PROTOCOL_ERROR],
      [[8, 2], frames.PROTOCOL_ERROR],
    ] as [[number, number], number][]) {
      assert.equal(read([pair]), code, pair.join(' '))
    }
    assert.deepEqual([read([[2, 1]], 1), read([[2, 1]], 0), read([[2, 0]], 0)], [{}, frames.PROTOCOL_ERROR, {}])
    assert.equal(readSettings(Buffer.alloc(5), 0, 5, 1), frames.FRAME_SIZE_ERROR)
    assert.deepEqual(read(Array.from({ length: 32 }, () => [99, 0])), {})
    assert.equal(read(Array.from({ length: 33 }, () => [99, 0])), frames.ENHANCE_YOUR_CALM)
  })

  test('can be written for a server and a client, and read back', () => {
    const payloadOf = (frame: string) => Buffer.from(frame, 'latin1').subarray(9)
    const limits = { maxStreams: 7, windowSize: 70_000, frameSize: 20_000, maxHeaderSize: 9 }
    const server = payloadOf(serverSettings(limits))
    assert.deepEqual(readSettings(server, 0, server.length, 0), {
      maxStreams: 7,
      initialWindowSize: 70_000,
      maxFrameSize: 20_000,
      takesTunnels: true,
    })
    const client = payloadOf(clientSettings(limits))
    assert.deepEqual(readSettings(client, 0, client.length, 0), { initialWindowSize: 70_000 })
    assert.equal(hex(clientSettings(limits)).slice(0, 18), '000012040000000000')
  })
})

describe('the numbers of streams', () => {
  test('are odd, and grow', () => {
    const table = new StreamTable<object>()
    assert.deepEqual(
      [1, 2, 3].map((id) => table.isNew(id)),
      [true, false, true],
    )
    table.last = 3
    assert.deepEqual(
      [1, 3, 4, 5].map((id) => table.isNew(id)),
      [false, false, false, true],
    )
    assert.deepEqual(
      [0, 1, 2, 3, 5].map((id) => table.isIdle(id)),
      [true, false, true, false, true],
    )
    assert.equal(table.isNew(HIGHEST_STREAM), true)
  })

  test('above the last that is answered are overlooked', () => {
    const table = new StreamTable<object>()
    table.last = table.lastAnswered = 5
    assert.deepEqual([table.isNew(7), table.isIdle(7), table.late(7, false)], [false, false, frames.NO_ERROR])
    assert.equal(table.isIdle(8), true)
  })

  test('stay known after this side has ended the stream, until the client ends it too', () => {
    const table = new StreamTable<object>()
    table.last = 9
    assert.equal(table.late(3, false), frames.STREAM_CLOSED)
    assert.equal(table.late(4, false), frames.PROTOCOL_ERROR)
    assert.equal(table.late(11, false), frames.PROTOCOL_ERROR)
    table.cutOff(3)
    assert.deepEqual([table.late(3, false), table.late(3, true), table.late(3, false)], [0, 0, frames.STREAM_CLOSED])
    table.cutOff(5)
    table.forget(5)
    assert.equal(table.late(5, false), frames.STREAM_CLOSED)
  })

  test('stay known for the last thousand such streams', () => {
    const table = new StreamTable<object>()
    table.last = 5_001
    for (let id = 1; id <= 1_999; id += 2) table.cutOff(id)
    assert.equal(table.late(1, false), frames.NO_ERROR)
    table.cutOff(2_001)
    assert.deepEqual([table.late(1, false), table.late(3, false)], [frames.STREAM_CLOSED, frames.NO_ERROR])
  })
})
