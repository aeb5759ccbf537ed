import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { test, type TestContext } from 'node:test'
import { onFault } from '../runtime/faults.ts'
import type { BytesEdit } from './exchange.ts'
import { splice, type TunnelEnd } from './splice.ts'

/** Both ends of a TCP connection: the peer's, and the gateway's, from which nothing has been read. */
async function usePair(t: TestContext): Promise<{ peer: Socket; own: Socket }> {
  const listener = createServer({ pauseOnConnect: true, allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  const peer = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {})
  const [own] = (await once(listener, 'connection')) as [Socket]
  t.after(() => {
    peer.destroy()
    own.destroy()
    listener.close()
  })
  return { peer, own }
}

interface Tunnel {
  client: Socket
  backend: Socket
  /** The gateway's sockets. */
  own: [Socket, Socket]
  ended: Promise<TunnelEnd>
  ends: TunnelEnd[]
}

interface TunnelOptions {
  early?: [fromClient: string, fromBackend: string]
  edit?: BytesEdit
  /** Whether the gateway has sent something to both sides before the tunnel, as it does for an upgrade. */
  heads?: boolean
}

async function useTunnel(t: TestContext, { early, edit, heads = false }: TunnelOptions = {}): Promise<Tunnel> {
  const [near, far] = [await usePair(t), await usePair(t)]
  const ends: TunnelEnd[] = []
  const { promise: ended, resolve } = Promise.withResolvers<TunnelEnd>()
  if (heads) for (const { own } of [near, far]) own.write('head ')
  const closed = new Set<Socket>()
  for (const socket of [near.own, far.own]) socket.once('close', () => closed.add(socket))
  const earlyBytes = early?.map((text) => Buffer.from(text)) ?? [null, null]
  splice(
    { socket: near.own, early: earlyBytes[0] ?? null },
    { socket: far.own, early: earlyBytes[1] ?? null, ...(edit !== undefined && { edit }) },
    (end) => {
      assert.equal(closed.size, 2, 'both sides are closed')
      ends.push(end)
      resolve(end)
    },
  )
  return { client: near.peer, backend: far.peer, own: [near.own, far.own], ended, ends }
}

/** Reads a socket to its end. */
async function textOf(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  await once(socket, 'end')
  return text
}

test('bytes pass in both directions until both have ended, and are counted once', async (t) => {
  const { client, backend, ended, ends } = await useTunnel(t, { early: ['early ', 'first '], heads: true })
  const [toBackend, toClient] = [textOf(backend), textOf(client)]
  client.end('question')
  assert.equal(await toBackend, 'head early question')
  // The client has ended, and still gets the response.
  backend.end('response')
  assert.equal(await toClient, 'head first response')
  assert.deepEqual(await ended, { bytesToBackend: 14, bytesToClient: 14, brokenBy: null, endedBy: 'client' })
  await new Promise(setImmediate)
  assert.equal(ends.length, 1)
})

test('the side that ends first is named', async (t) => {
  const { client, backend, ended } = await useTunnel(t)
  const toClient = textOf(client)
  backend.end('bye')
  assert.equal(await toClient, 'bye')
  backend.resume()
  client.end()
  assert.deepEqual(await ended, { bytesToBackend: 0, bytesToClient: 3, brokenBy: null, endedBy: 'backend' })
})

for (const side of ['client', 'backend'] as const) {
  test(`a ${side} that has ended and is reset later has not broken the tunnel`, async (t) => {
    const { client, backend, own, ended } = await useTunnel(t)
    const [first, other] = side === 'client' ? [client, backend] : [backend, client]
    const text = textOf(other)
    first.end('all')
    assert.equal(await text, 'all')
    const socket = own[side === 'client' ? 0 : 1]
    assert.equal(socket.readableEnded, true)
    first.resetAndDestroy()
    const writing = setInterval(() => other.write('more'), 1)
    const { brokenBy, endedBy } = await ended
    clearInterval(writing)
    assert.deepEqual([brokenBy, endedBy], [null, side])
  })

  test(`a ${side} that breaks off resets the other side`, async (t) => {
    const { client, backend, ended } = await useTunnel(t)
    const [broken, other] = side === 'client' ? [client, backend] : [backend, client]
    const failed = Promise.withResolvers<NodeJS.ErrnoException>()
    other
      .on('error', failed.resolve)
      .on('end', () => failed.reject(new Error('it looked complete')))
      .resume()
    broken.write('part')
    await once(other, 'data')
    broken.resetAndDestroy()
    assert.equal((await failed.promise).code, 'ECONNRESET')
    const { brokenBy, endedBy } = await ended
    assert.deepEqual([brokenBy, endedBy], [side, null])
  })

  test(`a ${side} that is closed before the tunnel begins closes the other side`, async (t) => {
    const [near, far] = [await usePair(t), await usePair(t)]
    const [closed, other] = side === 'client' ? [near, far] : [far, near]
    closed.own.destroy()
    const { promise, resolve } = Promise.withResolvers<TunnelEnd>()
    splice({ socket: near.own, early: null }, { socket: far.own, early: null }, resolve)
    await promise
    assert.equal(other.own.destroyed, true)
  })
}

test('an edit changes what the backend sends, to the last held byte', async (t) => {
  let held = ''
  const edit: BytesEdit = {
    push(chunk) {
      const text = held + chunk.toString()
      held = text.slice(-1)
      return Buffer.from(text.slice(0, -1).toUpperCase())
    },
    end: () => Buffer.from(`${held}!`),
  }
  const { client, backend, ended } = await useTunnel(t, { early: ['', 'ab'], edit })
  const toClient = textOf(client)
  await once(client, 'data')
  // Each letter lets the one before it go.
  for (const letter of ['c', 'd']) {
    backend.write(letter)
    await once(client, 'data')
  }
  backend.end()
  assert.equal(await toClient, 'ABCd!')
  backend.resume()
  client.end()
  assert.equal((await ended).bytesToClient, 5)
})

test('a slow client stops an edited backend, and loses nothing', async (t) => {
  const edit: BytesEdit = { push: (chunk) => Buffer.from(chunk), end: () => Buffer.alloc(0) }
  const { client, backend, own } = await useTunnel(t, { edit })
  const size = 24 * 1024 * 1024
  backend.end(Buffer.alloc(size))
  client.pause()
  const [near, far] = own
  while (!far.isPaused()) await new Promise(setImmediate)
  assert.ok(near.writableLength < size / 2, `${near.writableLength} bytes wait`)
  let received = 0
  client.on('data', (chunk: Buffer) => (received += chunk.length)).resume()
  await once(client, 'end')
  assert.equal(received, size)
})

test('an edit that throws resets both sides, and is reported', async (t) => {
  const faults: unknown[] = []
  t.after(onFault((error) => faults.push(error)))
  const broken = new Error('cannot be edited')
  const edit: BytesEdit = {
    push() {
      throw broken
    },
    end: () => Buffer.alloc(0),
  }
  const { client, backend, ended } = await useTunnel(t, { edit })
  const failed = Promise.all([once(client, 'error'), once(backend, 'error')])
  client.resume()
  backend.write('secret')
  const errors = (await failed) as [[NodeJS.ErrnoException], [NodeJS.ErrnoException]]
  assert.deepEqual(
    errors.map(([{ code }]) => code),
    ['ECONNRESET', 'ECONNRESET'],
  )
  assert.equal((await ended).bytesToClient, 0)
  assert.deepEqual(faults, [broken])
})
