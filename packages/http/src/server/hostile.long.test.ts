import assert from 'node:assert/strict'
import { connect as connectHttp2, constants } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { after, before, describe, test, type TestContext } from 'node:test'
import { request } from '../../../gateway/src/testing/client.ts'
import { RawClient } from '../../../gateway/src/testing/http/http1-server.ts'
import { type Origin, startOrigin } from '../../../gateway/src/testing/origin.ts'
import { eventually, metric, type Program, useConfigFile, useProgram } from '../../../gateway/src/testing/process.ts'
import { pathPrefix, useTcpServer } from '../../../gateway/src/testing/scene.ts'

const MOST_GROWTH = 100 * 1024 * 1024
const BIG = Buffer.alloc(64 * 1024, 'x')

/** One worker, so that attackers and other clients share it. */
describe('while others do their worst, everyone else is served and memory stays bounded', () => {
  const cleanups: (() => unknown)[] = []
  const suite = { after: (cleanup: () => unknown) => cleanups.push(cleanup) } as unknown as TestContext
  let origin: Origin
  let deaf: { sockets: Socket[] }
  let program: Program
  let memoryBefore = 0

  before(async () => {
    origin = await startOrigin((seen, response) => {
      if (seen.url === '/hang') return
      response.end(seen.url === '/big' ? BIG : 'ok')
    })
    suite.after(() => origin.close())
    const early = await useTcpServer(suite, (socket) => {
      socket.once('data', () => socket.write('HTTP/1.1 413 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n'))
    })
    deaf = await useTcpServer(suite, (socket) => socket.pause())
    const { file } = useConfigFile(suite, {
      config: { workers: 1, logging: { level: 'warn' } },
      binds: [
        {
          port: 0,
          address: '127.0.0.1',
          listeners: [
            {
              routes: [
                { ...pathPrefix('/direct'), policies: { directResponse: { status: 200, body: 'direct' } } },
                { ...pathPrefix('/early'), backends: [{ host: early.host }] },
                { ...pathPrefix('/deaf'), backends: [{ host: (deaf as unknown as { host: string }).host }] },
                { backends: [{ host: origin.host, policies: { http: { version: 'HTTP1' } } }] },
              ],
            },
          ],
        },
      ],
    })
    program = await useProgram(suite, { args: ['-f', file] })
    await served(200)
    memoryBefore = await metric(program, 'process_resident_memory_bytes')
  })

  after(async () => {
    // Newest first: an origin ends when the gateway has closed its connections.
    for (const cleanup of cleanups.toReversed()) await cleanup()
  })

  test('500 connections that send a byte now and then', async (t) => {
    const attackers = connections(t, 500)
    for (const socket of attackers) socket.write('GET / HTTP/1.1\r\nhost: a\r\nx: ')
    for (let round = 0; round < 10; round++) {
      for (const socket of attackers) socket.write('a')
      await served(5)
    }
    await bounded(t)
  })

  test('heads without an end, or of endless lines', async (t) => {
    const attack = async (piece: string, length: number) => {
      const client = new RawClient(program.port())
      t.after(() => client.socket.destroy())
      client.send('GET / HTTP/1.1\r\nhost: a\r\n')
      for (let sent = 0; sent < length && !client.ended && !client.closed; sent += piece.length) {
        if (!client.socket.write(piece)) await new Promise((resolve) => setTimeout(resolve, 5))
      }
      return client.all()
    }
    const pieces = ['x'.repeat(16 * 1024), `x-name: ${'v'.repeat(1000)}\r\n`.repeat(16)]
    const lengths = [512 * 1024, 8 * 1024 * 1024]
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const length = lengths[(index >> 1) & 1]!
        const reply = await attack(pieces[index & 1]!, length)
        // A client that keeps sending after the response is cut off, and may lose the response.
        assert.match(reply, length === lengths[0] ? /^HTTP\/1\.1 431 / : /^(HTTP\/1\.1 431 |$)/)
      }),
    )
    await served(20)
    await bounded(t)
  })

  test('bodies without an end, to a backend that has answered and one that does not read', async (t) => {
    const attackers = ['/early', '/deaf'].flatMap((path) =>
      Array.from({ length: 10 }, () => {
        const client = new RawClient(program.port())
        t.after(() => client.socket.destroy())
        client.send(`POST ${path} HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n`)
        return { path, client, sent: 0 }
      }),
    )
    const chunk = Buffer.concat([Buffer.from(`${BIG.length.toString(16)}\r\n`), BIG, Buffer.from('\r\n')])
    for (let round = 0; round < 40; round++) {
      for (const attacker of attackers) {
        const { socket, received } = attacker.client
        // A client that sends too much before it reads the response may be cut off without it.
        if (attacker.path === '/early' && received === '' && attacker.sent > 256 * 1024) continue
        for (let i = 0; i < 8 && !socket.destroyed && !socket.writableNeedDrain; i++) {
          socket.write(chunk)
          attacker.sent += chunk.length
        }
      }
      await served(1)
    }
    await bounded(t)
    for (const { path, client, sent } of attackers) {
      if (path === '/early') assert.match(await client.until('\r\n\r\n'), /^HTTP\/1\.1 413 /)
      // The limit covers the socket buffers of both sides, and a little of ours.
      else assert.ok(sent < 24 * 1024 * 1024, `${sent} bytes were taken`)
    }
    for (const socket of deaf.sockets) socket.destroy()
  })

  test('10,000 requests in one go', async (t) => {
    const client = new RawClient(program.port())
    t.after(() => client.socket.destroy())
    const pair = 'GET /direct HTTP/1.1\r\nhost: a\r\n\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n'
    client.socket.write(pair.repeat(4_999))
    client.socket.write(pair.replace(/GET \/ HTTP\/1.1/, '$&\r\nconnection: close'))
    while (!client.ended && !client.closed) await served(5)
    const statuses = client.received.match(/HTTP\/1\.1 200 /g)
    assert.equal(statuses?.length, 10_000)
    await bounded(t)
  })

  test('10,000 requests in one go, and nobody reads the replies', async (t) => {
    const seenBefore = origin.seen.length
    const [attacker] = connections(t, 1)
    attacker!.pause()
    attacker!.write('GET /big HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(10_000))
    await eventually('some are answered', () => origin.seen.length > seenBefore + 5)
    await served(100)
    await bounded(t)
    const asked = origin.seen.filter(({ url }) => url === '/big').length
    assert.ok(asked < 1_000, `${asked} requests went on`)
  })

  test('peers that say nothing, and peers that vanish', async (t) => {
    connections(t, 300)
    const vanishing = connections(t, 300)
    for (const [index, socket] of vanishing.entries()) {
      if (index % 3 === 1) socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\nx')
      if (index % 3 === 2) socket.write('GET /hang HTTP/1.1\r\nhost: a\r\n\r\n')
    }
    await served(20)
    for (const socket of vanishing) socket.resetAndDestroy()
    await served(20)
    await eventually('only the silent are left', async () => {
      const active = await metric(program, 'portico_downstream_connections_active')
      return active >= 300 && active < 310
    })
    await bounded(t)
  })

  test('streams that are opened only to be reset', async (t) => {
    const seenBefore = origin.seen.length
    const session = connectHttp2(`http://127.0.0.1:${program.port()}`)
    t.after(() => session.destroy())
    session.on('error', () => {})
    let reason = -1
    session.on('goaway', (code) => (reason = code))
    await new Promise<void>((resolve) => session.once('connect', () => resolve()))
    for (let round = 0; round < 100 && !session.closed && !session.destroyed; round++) {
      for (let i = 0; i < 100 && !session.closed && !session.destroyed; i++) {
        const stream = session.request({ ':path': '/hang' })
        stream.on('error', () => {})
        stream.close(constants.NGHTTP2_CANCEL)
      }
      await served(1)
    }
    await eventually('the connection is ended', () => session.closed || session.destroyed)
    assert.equal(reason, constants.NGHTTP2_ENHANCE_YOUR_CALM)
    assert.ok(origin.seen.length - seenBefore < 2_000)
    await served(20)
    await bounded(t)
  })

  test('afterwards no worker has died', async (t) => {
    assert.equal(await metric(program, 'portico_worker_restarts_total'), 0)
    assert.doesNotMatch(program.stdout(), /\terror\t/)
    await served(100)
    await bounded(t)
  })

  async function served(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const { status, body } = await request(program.port(), { path: i % 2 === 0 ? '/direct' : '/' })
      assert.deepEqual([status, body], [200, i % 2 === 0 ? 'direct' : 'ok'])
    }
  }

  async function bounded(t: TestContext): Promise<void> {
    const growth = (await metric(program, 'process_resident_memory_bytes')) - memoryBefore
    t.diagnostic(`memory grew by ${Math.round(growth / 1024 / 1024)} MB`)
    assert.ok(growth < MOST_GROWTH, `memory grew by ${growth} bytes`)
  }

  function connections(t: TestContext, count: number): Socket[] {
    return Array.from({ length: count }, () => {
      const socket = connect(program.port(), '127.0.0.1')
      t.after(() => socket.destroy())
      socket.on('error', () => {})
      return socket
    })
  }
})
