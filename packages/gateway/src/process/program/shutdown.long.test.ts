import assert from 'node:assert/strict'
import { connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { exchangeRaw, parseResponse } from '../../testing/client.ts'
import { RawClient } from '../../testing/http/http1-server.ts'
import { eventually, useConfigFile, useProgram } from '../../testing/process.ts'
import { useOrigin } from '../../testing/scene.ts'
import type { OriginHandler } from '../../testing/origin.ts'

const GET = 'GET /slow HTTP/1.1\r\nhost: a\r\n\r\n'

async function useGateway(t: TestContext, handler: OriginHandler, config: object = {}) {
  const origin = await useOrigin(t, handler)
  const routes = [{ backends: [{ host: origin.host, policies: { http: { version: 'HTTP1' } } }] }]
  const { file } = useConfigFile(t, {
    config: { workers: 2, connectionTerminationDeadline: '1h', ...config },
    binds: [{ port: 0, address: '127.0.0.1', listeners: [{ routes }] }],
  })
  return { origin, program: await useProgram(t, { args: ['-f', file] }) }
}

describe('a signal to end', () => {
  test('lets a request finish, closes its connection, takes no new one, and ends with 0', async (t) => {
    let answer = () => {}
    const { origin, program } = await useGateway(t, (_request, response) => (answer = () => response.end('late')))
    using client = new RawClient(program.port())
    using idle = new RawClient(program.port())
    client.send(GET)
    idle.send('GET /')
    await eventually('in flight', () => origin.seen.length === 1)
    program.child.kill('SIGTERM')
    await eventually('refuses', () => isRefused(program.port()))
    answer()
    const response = parseResponse(await client.all())
    assert.equal(response.status, 200)
    assert.equal(response.body, 'late')
    assert.equal(response.headers['connection'], 'close')
    client.socket.destroy()
    idle.socket.destroy()
    // It might have waited for an hour, far longer than a test may take.
    assert.deepEqual(await program.ended, { code: 0, signal: null })
  })

  test('ends idle connections after a moment, also those that never said a word', async (t) => {
    const { program } = await useGateway(t, (_request, response) => response.end('ok'))
    using used = new RawClient(program.port())
    using silent = new RawClient(program.port())
    used.send(GET)
    await used.until('ok')
    assert.match(used.received, /HTTP\/1.1 200/)
    program.child.kill('SIGINT')
    await used.all()
    used.socket.destroy()
    await silent.all()
    assert.deepEqual(await program.ended, { code: 0, signal: null })
  })

  test('cuts what is left after the deadline, streams too', async (t) => {
    const { origin, program } = await useGateway(
      t,
      (request, response) => {
        if (request.url !== '/sse') return
        response.writeHead(200, { 'content-type': 'text/event-stream' })
        response.write('data: first\n\n')
      },
      { connectionTerminationDeadline: '500ms' },
    )
    using stream = new RawClient(program.port())
    stream.send(GET.replace('/slow', '/sse'))
    await stream.until('data: first')
    const slow = exchangeRaw(program.port(), GET, () => false)
    await eventually('in flight', () => origin.seen.length === 2)
    const signalledAt = performance.now()
    program.child.kill('SIGTERM')
    await stream.all()
    assert.ok(performance.now() - signalledAt >= 450)
    // An end without the last chunk: the client knows that something is missing.
    assert.doesNotMatch(stream.received, /\r\n0\r\n/)
    await slow.catch(() => {})
    assert.deepEqual(await program.ended, { code: 0, signal: null })
  })

  test('given twice ends at once', async (t) => {
    const { origin, program } = await useGateway(t, () => {})
    using client = new RawClient(program.port())
    client.send(GET)
    await eventually('in flight', () => origin.seen.length === 1)
    program.child.kill('SIGTERM')
    await program.logged(/draining/)
    program.child.kill('SIGTERM')
    assert.deepEqual(await program.ended, { code: 0, signal: null })
  })

  test('says GOAWAY on HTTP/2 and lets its streams finish', async (t) => {
    let answer = () => {}
    const { origin, program } = await useGateway(t, (_request, response) => (answer = () => response.end('late')))
    const session = connectHttp2(`http://127.0.0.1:${program.port()}`)
    t.after(() => session.destroy())
    const goneAway = new Promise<number>((resolve) => session.on('goaway', resolve))
    const closed = new Promise<void>((resolve) => session.on('close', () => resolve()))
    const stream = session.request({ ':path': '/slow' })
    let body = ''
    stream.setEncoding('utf8')
    stream.on('data', (chunk: string) => (body += chunk))
    const streamClosed = new Promise<void>((resolve) => stream.on('close', () => resolve()))
    await eventually('in flight', () => origin.seen.length === 1)
    program.child.kill('SIGTERM')
    assert.equal(await goneAway, 0)
    answer()
    await streamClosed
    assert.equal(body, 'late')
    assert.equal(stream.rstCode, 0)
    await closed
    assert.deepEqual(await program.ended, { code: 0, signal: null })
  })

  test('answers or refuses fresh connections while ports close, and resets next to none', async (t) => {
    const { program } = await useGateway(t, (_request, response) => response.end('ok'), {
      connectionMinTerminationDeadline: '300ms',
    })
    const outcomes = await knockUntilRefused(program.port(), () => program.child.kill('SIGTERM'))
    expectNoResets(outcomes)
    assert.deepEqual(await program.ended, { code: 0, signal: null })
  })
})

test('a reload that takes a port away resets next to no fresh connection', async (t) => {
  const routes = [{ policies: { directResponse: { status: 200, body: 'ok' } } }]
  const bind = (address: string) => ({ port: 0, address, listeners: [{ routes }] })
  const config = (...binds: object[]) => ({ config: { workers: 2 }, binds })
  const source = useConfigFile(t, config(bind('127.0.0.1')))
  const program = await useProgram(t, { args: ['-f', source.file] })
  // The port stays what it was; the address that is knocked at goes.
  const outcomes = await knockUntilRefused(program.port(), () => source.replace(config(bind('127.0.0.2'))))
  expectNoResets(outcomes)
})

/** Many clients with a connection for each request; `close` is called once they are at it. */
async function knockUntilRefused(port: number, close: () => void): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {}
  const knock = async (): Promise<void> => {
    for (;;) {
      const outcome = await ask(port)
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
      if (outcome === 'ECONNREFUSED') return
    }
  }
  const visitors = Array.from({ length: 64 }, knock)
  await eventually('traffic', () => (outcomes['answered'] ?? 0) > 200)
  close()
  await Promise.all(visitors)
  return outcomes
}

/** Between the last look at the queue and the close there is a moment in which each worker may lose one. */
function expectNoResets({ answered: _answered, ECONNREFUSED: _refused, ...others }: Record<string, number>): void {
  const { ECONNRESET: resets = 0, ...broken } = others
  assert.deepEqual(broken, {})
  assert.ok(resets <= 2, `${resets} resets`)
}

/** Sends one request on its own connection, and resolves with its outcome. */
function ask(port: number): Promise<string> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect(port, '127.0.0.1')
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')))
    socket.on('end', () => resolve(received.endsWith('ok') ? 'answered' : `broken: ${received}`))
    socket.write('GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n')
  })
}

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => {
      socket.destroy()
      resolve(false)
    })
    socket.on('error', () => resolve(true))
  })
}
