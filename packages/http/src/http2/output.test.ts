import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { Writable } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { FrameOutput, StreamOutput } from './output.ts'
import type { Frame } from '../testing/frame-client.ts'

/** A socket that accepts data when told to, and records each write. */
class SlowSocket extends Writable {
  readonly writes: Buffer[] = []
  isOpen = true
  #done: (() => void)[] = []

  constructor() {
    super({ highWaterMark: 65_536 })
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.writes.push(chunk)
    this.#take(done)
  }

  override _writev(chunks: { chunk: Buffer }[], done: () => void): void {
    this.writes.push(Buffer.concat(chunks.map(({ chunk }) => chunk)))
    this.#take(done)
  }

  release(): void {
    this.isOpen = true
    for (const done of this.#done.splice(0)) done()
  }

  #take(done: () => void): void {
    if (this.isOpen) done()
    else this.#done.push(done)
  }
}

function start(): { socket: SlowSocket; output: FrameOutput; frames: () => Frame[] } {
  const socket = new SlowSocket()
  const output = new FrameOutput(socket as unknown as Socket)
  const frames = (): Frame[] => {
    const bytes = Buffer.concat(socket.writes)
    const found: Frame[] = []
    for (let at = 0; at < bytes.length;) {
      const length = bytes.readUIntBE(at, 3)
      const [type = 0, flags = 0] = bytes.subarray(at + 3)
      found.push({ type, flags, stream: bytes.readUInt32BE(at + 5), payload: bytes.subarray(at + 9, at + 9 + length) })
      at += 9 + length
    }
    return found
  }
  return { socket, output, frames }
}

function stream(id: number, events: string[] = [], window = 65_535): StreamOutput {
  const tell = (what: string) => () => void events.push(`${what} ${id}`)
  return new StreamOutput(id, { outputDrained: tell('drained'), outputEnded: tell('ended') }, window)
}

const shape = ({ type, flags, stream: id, payload }: Frame): number[] => [id, type, flags, payload.length]

test('all frames of one turn leave in one write', async () => {
  const { socket, output, frames } = start()
  for (const id of [1, 3, 5]) {
    const one = stream(id)
    output.headers(one, '\x88', false)
    output.end(one, Buffer.from('hello'), '')
    output.flushSoon()
  }
  assert.equal(socket.writes.length, 0)
  await turn()
  assert.equal(socket.writes.length, 1)
  assert.deepEqual(
    frames().map(shape),
    [1, 3, 5].flatMap((id) => [
      [id, 1, 4, 1],
      [id, 0, 1, 5],
    ]),
  )
})

test('streams that wait for the window of the connection take turns', () => {
  const { output, frames } = start()
  output.window = 0
  const events: string[] = []
  const streams = [1, 3].map((id) => stream(id, events))
  for (const one of streams) output.end(one, Buffer.alloc(20_000), '')
  output.pump()
  output.flush()
  assert.deepEqual(frames(), [])
  output.widen(100_000)
  output.pump()
  output.flush()
  assert.deepEqual(
    frames().map(({ stream: id, payload }) => [id, payload.length]),
    [
      [1, 16_384],
      [3, 16_384],
      [1, 3_616],
      [3, 3_616],
    ],
  )
  assert.deepEqual(events, ['ended 1', 'ended 3'])
})

test('a stream without a window holds up no other, and its end comes last', () => {
  const { output, frames } = start()
  const events: string[] = []
  const [slow, quick] = [stream(1, events, 3), stream(3, events)]
  output.end(slow, Buffer.from('hello'), 'TRAILERS')
  output.end(quick, Buffer.from('world'), '')
  slow.window += 10
  output.wake(slow)
  output.pump()
  output.flush()
  assert.deepEqual(frames().map(shape), [
    [1, 0, 0, 3],
    [3, 0, 1, 5],
    [1, 0, 0, 2],
    [1, 1, 5, 8],
  ])
  assert.deepEqual(events, ['ended 3', 'ended 1'])
})

test('a socket that takes nothing stops the bodies, and tells when it goes on', async () => {
  const { socket, output } = start()
  output.window = 10_000_000
  socket.isOpen = false
  const events: string[] = []
  const one = stream(1, events, 10_000_000)
  let given = 0
  while (output.data(one, Buffer.alloc(16_384))) given += 16_384
  assert.ok(given < 200_000, `${given} bytes were taken`)
  const held = output.unsent + one.queued
  assert.ok(held < 200_000, `${held} bytes are held`)
  socket.on('drain', () => output.pump())
  socket.release()
  for (let i = 0; i < 10 && events.length === 0; i++) await turn()
  assert.deepEqual(events, ['drained 1'])
})

test('nothing is sent for a stream that was given up, nor after the last frames', () => {
  const { output, frames } = start()
  output.window = 0
  const one = stream(1)
  output.end(one, Buffer.from('hello'), '')
  output.forget(one)
  output.widen(100)
  output.pump()
  output.frames('\0\0\0\x04\x01\0\0\0\0')
  output.close()
  output.frames('\0\0\0\x04\x01\0\0\0\0')
  output.flush()
  assert.deepEqual(frames().map(shape), [[0, 4, 1, 0]])
})
