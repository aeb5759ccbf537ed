import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect as connectTcp, createServer as createTcpServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { connect, createServer, type TLSSocket } from 'node:tls'
import { createAuthority } from '../../../gateway/src/testing/certificates.ts'
import { adoptShared, readerOf, SharedBufferReader, type SocketReader, StreamReader } from './socket-reader.ts'

const authority = createAuthority()
const certificate = authority.issue({ names: ['a.test'] })
const BODY = randomBytes(3_000_000)
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

interface Pair {
  client: TLSSocket
  server: TLSSocket
  reader: SocketReader
}

/** Two ends of a TLS connection; the reader is created where the gateway does it, right after the handshake. */
async function usePair(t: TestContext, first = Buffer.alloc(0)): Promise<Pair> {
  const listener = createServer({ ...certificate, allowHalfOpen: true })
  const accepted = new Promise<{ server: TLSSocket; reader: SocketReader }>((resolve) => {
    listener.on('secureConnection', (server) => resolve({ server, reader: readerOf(server) }))
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', servername: 'a.test', ca: authority.cert })
  client.on('error', () => {})
  if (first.length > 0) client.write(first)
  const { server, reader } = await accepted
  server.on('error', () => {})
  t.after(() => {
    client.destroy()
    server.destroy()
    listener.close()
  })
  return { client, server, reader }
}

test('a TLS socket is read through the shared buffer, and what was sent with the handshake is not lost', async (t) => {
  const { client, server, reader } = await usePair(t, Buffer.from('first '))
  assert.ok(reader instanceof SharedBufferReader)
  let text = ''
  reader.start((chunk) => (text += chunk.toString()))
  client.end('and last')
  await once(server, 'end')
  assert.equal(text, 'first and last')
})

test('pauses at any place lose nothing, repeat nothing, and hold the sender back', async (t) => {
  const { client, server, reader } = await usePair(t)
  const chunks: Buffer[] = []
  let pauses = 0
  let chunksWhilePaused = 0
  reader.start((chunk) => {
    chunks.push(chunk)
    // The data of one read is delivered completely, even while paused; further data must wait.
    if (server.isPaused()) chunksWhilePaused++
    else if (++pauses % 3 === 0) {
      server.pause()
      setTimeout(() => server.resume(), pauses % 2)
    }
  })
  client.end(BODY)
  await once(server, 'end')
  assert.equal(hashOf(Buffer.concat(chunks)), hashOf(BODY))
  assert.ok(pauses > 3)
  assert.ok(chunksWhilePaused < 8 * pauses, `${chunksWhilePaused} chunks in ${pauses} pauses`)
})

test('a paused socket reads at most one buffer', async (t) => {
  const { client, server, reader } = await usePair(t)
  let taken = 0
  reader.start((chunk) => {
    taken += chunk.length
    server.pause()
  })
  client.write(Buffer.alloc(32 * 1024 * 1024))
  // Once the sender is blocked, the kernel's buffers are full.
  let before = -1
  for (let same = 0; same < 5;) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    same = client.bytesWritten === before ? same + 1 : 0
    before = client.bytesWritten
  }
  assert.ok(taken > 0 && taken <= 262_144, `${taken} bytes`)
})

test('after a release the bytes go into the stream', async (t) => {
  const { client, server, reader } = await usePair(t)
  const first = new Promise<string>((resolve) => reader.start((chunk) => resolve(chunk.toString())))
  client.write('head')
  assert.equal(await first, 'head')
  reader.release()
  server.pause()
  const chunks: Buffer[] = []
  server.on('data', (chunk: Buffer) => chunks.push(chunk))
  server.resume()
  client.end(BODY)
  await once(server, 'end')
  assert.equal(hashOf(Buffer.concat(chunks)), hashOf(BODY))
})

test('a chunk is the receiver’s to keep: the next read does not change it', async (t) => {
  const { client, reader } = await usePair(t)
  const kept: Buffer[] = []
  const arrived = async (count: number): Promise<void> => {
    while (kept.length < count) await new Promise((resolve) => setImmediate(resolve))
  }
  reader.start((chunk) => kept.push(chunk))
  client.write('one')
  await arrived(1)
  client.write('two')
  await arrived(2)
  assert.deepEqual(kept.map(String), ['one', 'two'])
})

test('bytes that wait in the stream of a socket come first', async (t) => {
  const { client, server } = await usePair(t)
  server.pause()
  server.unshift(Buffer.from('first '))
  const reader = readerOf(server)
  assert.ok(reader instanceof StreamReader)
  let text = ''
  reader.start((chunk) => (text += chunk.toString()))
  server.resume()
  client.end('and last')
  await once(server, 'end')
  assert.equal(text, 'first and last')
})

test('a socket that is already closed gets a reader that reads nothing', async (t) => {
  const { server } = await usePair(t)
  server.destroy()
  const reader = readerOf(server)
  assert.ok(reader instanceof StreamReader)
  reader.start(() => assert.fail('nothing can arrive'))
  await once(server, 'close')
})

/** The server's end of a TCP connection, as a listener gets it. */
async function useAccepted(t: TestContext): Promise<{ client: Socket; accepted: Socket }> {
  const listener = createTcpServer({ pauseOnConnect: true, allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const client = connectTcp((listener.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  const [accepted] = (await once(listener, 'connection')) as [Socket]
  t.after(() => {
    client.destroy()
    accepted.destroy()
    listener.close()
  })
  return { client, accepted }
}

test('an accepted connection moves to a socket that is read through the shared buffer', async (t) => {
  const { client, accepted } = await useAccepted(t)
  const { socket, reader } = adoptShared(accepted)
  t.after(() => socket.destroy())
  assert.ok(reader instanceof SharedBufferReader && socket !== accepted)
  let text = ''
  reader.start((chunk) => (text += chunk.toString()))
  socket.resume()
  client.end('hello')
  await once(socket, 'end')
  assert.equal(text, 'hello')
  client.on('data', (chunk: Buffer) => (text += chunk.toString()))
  socket.end(' back')
  await once(client, 'end')
  assert.equal(text, 'hello back')
})

test('a connection that was closed before it is adopted stays the closed socket that it is', async (t) => {
  const { accepted } = await useAccepted(t)
  accepted.destroy()
  const { socket, reader } = adoptShared(accepted)
  assert.ok(socket === accepted && reader instanceof StreamReader)
  assert.equal(socket.destroyed, true)
})
