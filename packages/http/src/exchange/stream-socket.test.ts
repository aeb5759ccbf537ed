import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import type { Sink } from '../body/body.ts'
import { StreamSocket } from './stream-socket.ts'

/** A tunnel whose two ends the test plays. */
function useTunnel() {
  const events: string[] = []
  const output: Sink = {
    source: null,
    write: (chunk) => events.push(`write ${chunk.toString()}`),
    flush: () => ends.hasRoom,
    end: () => events.push('end'),
    abort: () => assert.fail('a tunnel ends or is reset'),
  }
  const ends = {
    /** Receives the peer's bytes. */
    input: null as Sink | null,
    hasRoom: true,
    output,
  }
  const socket = new StreamSocket({
    input: {
      length: -1,
      pipe: (sink) => (ends.input = sink),
      resume: () => events.push('resume'),
      cancel: () => events.push('cancel'),
    },
    output,
    reset: ({ message }) => events.push(`reset ${message}`),
  })
  const { input } = ends
  assert.ok(input !== null)
  return { socket, ends, input, events }
}

test('written bytes go to the peer one by one, each when the peer has room', async () => {
  const { socket, ends, events } = useTunnel()
  ends.hasRoom = false
  let written = 0
  socket.write('one', () => written++)
  socket.write('two', () => written++)
  await new Promise(setImmediate)
  assert.deepEqual([events, written], [['write one'], 0])
  ends.output.source?.resume()
  await new Promise(setImmediate)
  assert.deepEqual([events, written], [['write one', 'write two'], 1])
  ends.hasRoom = true
  ends.output.source?.resume()
  // A peer may announce room that nobody waits for.
  ends.output.source?.resume()
  socket.end()
  await once(socket, 'finish')
  assert.deepEqual([events, written, socket.bytesWritten], [['write one', 'write two', 'end'], 2, 6])
  socket.destroy()
})

test('a reader that is full holds the peer back until it reads', async () => {
  const { socket, input, events } = useTunnel()
  assert.equal(input.flush(), true)
  const size = socket.readableHighWaterMark
  input.write(Buffer.alloc(size))
  assert.equal(input.flush(), false)
  assert.deepEqual(events, [])
  let read = 0
  socket.on('data', (chunk: Buffer) => (read += chunk.length))
  await new Promise(setImmediate)
  assert.deepEqual([read, events], [size, ['resume']])
  assert.equal(input.flush(), true)
  input.end(null)
  await once(socket, 'end')
  assert.equal(socket.destroyed, false)
  socket.destroy()
})

test('a tunnel is destroyed soon: after what was written has been sent, and at once when all was', async () => {
  const { socket, ends, events } = useTunnel()
  ends.hasRoom = false
  socket.write('last')
  socket.destroySoon()
  await new Promise(setImmediate)
  assert.deepEqual([events, socket.destroyed], [['write last'], false])
  ends.output.source?.resume()
  await once(socket, 'close')
  assert.deepEqual(events, ['write last', 'end', 'reset tunnel closed'])

  const finished = useTunnel()
  finished.socket.end()
  await once(finished.socket, 'finish')
  assert.equal(finished.socket.destroyed, false)
  finished.socket.destroySoon()
  assert.equal(finished.socket.destroyed, true)
  await once(finished.socket, 'close')
  assert.deepEqual(finished.events, ['end', 'reset tunnel closed'])
})

test('a peer that resets or cancels destroys the socket, and bytes after that are dropped', async () => {
  for (const fail of [
    ({ input }: ReturnType<typeof useTunnel>) => input.abort(new Error('gone')),
    ({ ends }: ReturnType<typeof useTunnel>) => ends.output.source?.cancel(new Error('gone')),
  ]) {
    const tunnel = useTunnel()
    fail(tunnel)
    const [error] = (await once(tunnel.socket, 'error')) as [Error]
    assert.deepEqual([error.message, tunnel.events], ['gone', ['reset gone']])
    tunnel.input.write(Buffer.from('late'))
    assert.equal(tunnel.input.flush(), true)
    tunnel.input.end(null)
    assert.deepEqual([tunnel.socket.readableLength, tunnel.socket.destroyed], [0, true])
  }
})
