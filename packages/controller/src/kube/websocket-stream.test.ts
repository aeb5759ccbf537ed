import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Duplex, PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { WebSocketStream } from './websocket-stream.ts'

/** A frame from the server. */
function frame(first: number, payload: Buffer, second = 0): Buffer {
  const { length } = payload
  if (length < 126) return Buffer.concat([Buffer.of(first, second | length), payload])
  const size = Buffer.alloc(length < 65_536 ? 2 : 8)
  if (length < 65_536) size.writeUInt16BE(length)
  else size.writeBigUInt64BE(BigInt(length))
  return Buffer.concat([Buffer.of(first, second | (length < 65_536 ? 126 : 127)), size, payload])
}

function useSocket(): { socket: Duplex; server: PassThrough; sent: Buffer[] } {
  const [server, sent]: [PassThrough, Buffer[]] = [new PassThrough(), []]
  const socket = new Duplex({
    read: () => void server.resume(),
    write: (chunk: Buffer, _encoding, done) => (sent.push(chunk), done()),
  })
  server.on('data', (chunk) => socket.push(chunk))
  server.on('end', () => socket.push(null))
  return { socket, server, sent }
}

describe('a WebSocket as a stream', () => {
  it('yields the bytes of all messages for any chunking, and answers pings between fragments', async () => {
    const [long, longer] = [Buffer.alloc(300, 'b'), Buffer.alloc(70_000, 'c')]
    const wire = Buffer.concat([
      frame(0x82, Buffer.from('one')),
      frame(0x02, Buffer.from('two')),
      frame(0x89, Buffer.from('ping')),
      frame(0x80, long),
      frame(0x8a, Buffer.alloc(0)),
      frame(0x82, longer),
      frame(0x88, Buffer.of(0x03, 0xe8)),
    ])
    const expected = Buffer.concat([Buffer.from('onetwo'), long, longer])
    // Every cut inside a frame head or a control frame is tried.
    for (let cut = 0; cut < 340; cut += cut === 30 ? 280 : 1) {
      const { socket, server, sent } = useSocket()
      const stream = new WebSocketStream(socket, wire.subarray(0, cut))
      server.write(wire.subarray(cut, cut + 7))
      server.end(wire.subarray(cut + 7))
      const parts: Buffer[] = []
      for await (const part of stream) parts.push(part as Buffer)
      assert.ok(Buffer.concat(parts).equals(expected), `cut at ${cut}`)
      assert.deepEqual(
        sent.map((bytes) => bytes[0]),
        [0x8a, 0x88],
      )
    }
  })

  it('masks each sent frame with its own key', async () => {
    const { socket, sent } = useSocket()
    const stream = new WebSocketStream(socket, Buffer.alloc(0))
    const texts = ['', 'a', 'x'.repeat(125), 'x'.repeat(126), 'x'.repeat(65_536), 'x'.repeat(70_000)]
    for (const text of texts) stream.write(text)
    stream.end()
    await once(stream, 'finish')
    const read = sent.map((bytes) => {
      const short = (bytes[1] ?? 0) & 0x7f
      const size = short < 126 ? 2 : short === 126 ? 4 : 10
      const mask = bytes.subarray(size, size + 4)
      const payload = bytes.subarray(size + 4).map((byte, at) => byte ^ (mask[at % 4] ?? 0))
      assert.ok(((bytes[1] ?? 0) & 0x80) !== 0)
      return [bytes[0], Buffer.from(payload)] as const
    })
    assert.equal(
      Buffer.concat(read.filter(([kind]) => kind === 0x82).map(([, payload]) => payload)).toString(),
      texts.join(''),
    )
    assert.deepEqual(read.at(-1), [0x88, Buffer.of(0x03, 0xe8)])
    assert.notDeepEqual(sent[1]?.subarray(2, 6), sent[2]?.subarray(2, 6))
  })

  for (const [what, bytes] of [
    ['a text', frame(0x81, Buffer.from('text'))],
    ['an unknown kind', frame(0x83, Buffer.alloc(1))],
    ['bits that nobody agreed on', frame(0xc2, Buffer.alloc(1))],
    ['a mask', frame(0x82, Buffer.alloc(5), 0x80)],
    ['a long ping', frame(0x89, Buffer.alloc(126))],
    ['a ping in parts', frame(0x09, Buffer.alloc(1))],
    ['a length beyond all', Buffer.from([0x82, 127, 255, 255, 255, 255, 255, 255, 255, 255])],
  ] as const) {
    it(`ends at ${what}`, async () => {
      const { socket, server } = useSocket()
      const stream = new WebSocketStream(socket, Buffer.alloc(0))
      const closed = once(stream, 'close')
      server.write(bytes)
      await closed
      assert.ok(socket.destroyed)
    })
  }
})
