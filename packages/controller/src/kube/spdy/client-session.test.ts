import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type Duplex, duplexPair } from 'node:stream'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { SpdyClientSession } from './client-session.ts'
import { controlFrame, dataFrame, FIN, frameType, number, takeFrames } from './frames.ts'

/** A session whose peer is the test. */
function useSession(t: TestContext): { session: SpdyClientSession; peer: Duplex; sent: () => Buffer } {
  const [ours, peer] = duplexPair()
  const session = new SpdyClientSession(ours, Buffer.alloc(0))
  const parts: Buffer[] = []
  peer.on('data', (part: Buffer) => parts.push(part))
  peer.on('error', () => undefined)
  t.after(() => session.close())
  return { session, peer, sent: () => Buffer.concat(parts) }
}

async function useStream(t: TestContext): Promise<{ stream: Duplex; peer: Duplex; sent: () => Buffer }> {
  const { session, peer, sent } = useSession(t)
  const opened = session.open({ streamtype: 'data' })
  await once(peer, 'data')
  peer.write(controlFrame(frameType.reply, 0, number(1)))
  return { stream: await opened, peer, sent }
}

test('whatever a node sends ends the connection or is ignored, and never throws', async (t) => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { maxLength: 5 }), async (chunks) => {
      const { stream, peer } = await useStream(t)
      const closed = once(stream, 'close')
      stream.resume()
      for (const chunk of chunks) peer.write(chunk)
      peer.destroy()
      await closed
    }),
    { numRuns: 50 },
  )
})

test('a reset of a stream that was not accepted is an error', async (t) => {
  const { session, peer } = useSession(t)
  const opened = session.open({ streamtype: 'data' })
  await once(peer, 'data')
  peer.write(controlFrame(frameType.reset, 0, Buffer.concat([number(1), number(3)])))
  await assert.rejects(opened, /the stream was refused/)
})

test('data after the last frame of a stream is not given to its reader', async (t) => {
  const { stream, peer } = await useStream(t)
  const read: string[] = []
  stream.on('data', (part: Buffer) => read.push(part.toString()))
  const ended = once(stream, 'end')
  peer.write(Buffer.concat([dataFrame(1, FIN, Buffer.from('whole')), dataFrame(1, 0, Buffer.from('more'))]))
  await ended
  assert.deepEqual(read, ['whole'])
})

test('a stream that is left before its end is reset at the node', async (t) => {
  const { stream, peer, sent } = await useStream(t)
  stream.destroy()
  await once(peer, 'data')
  const last = takeFrames(sent()).frames.at(-1)
  assert.deepEqual(last, {
    kind: 'control',
    type: frameType.reset,
    flags: 0,
    body: Buffer.concat([number(1), number(5)]),
  })
})

test('pings of the node are answered, and replies to our own are not', async (t) => {
  const { peer, sent } = await useStream(t)
  const before = sent().length
  peer.write(Buffer.concat([controlFrame(frameType.ping, 0, number(7)), controlFrame(frameType.ping, 0, number(8))]))
  await once(peer, 'data')
  assert.deepEqual(takeFrames(sent().subarray(before)).frames, [
    { kind: 'control', type: frameType.ping, flags: 0, body: number(8) },
  ])
})
