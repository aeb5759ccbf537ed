import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { request } from '../../../gateway/src/testing/client.ts'
import { KeepAliveClient } from '../../../gateway/src/testing/keep-alive-client.ts'
import { lookupIn } from '../../../gateway/src/testing/lookup.ts'
import { httpConfig, useGateway } from '../../../gateway/src/testing/scene.ts'

/** Streams that an HTTP/2 backend refuses without processing them. */

interface Backend {
  host: string
  sessions: ServerHttp2Session[]
  /** Bodies of answered requests, in order. */
  bodies: string[]
  /** Accepts no more connections, and no more streams on open connections. */
  stop(): void
}

type Refusal = (stream: ServerHttp2Stream, nth: number, session: number) => boolean

/** Streams that `refuses` does not refuse are answered once their body is complete. */
async function useBackend(t: TestContext, refuses: Refusal, host = '127.0.0.1', wanted = 0): Promise<Backend> {
  const server = createServer()
  const sessions: ServerHttp2Session[] = []
  const bodies: string[] = []
  server.on('session', (session) => {
    const number = sessions.push(session)
    let nth = 0
    session.on('error', () => {})
    session.on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => {})
      if (refuses(stream, ++nth, number)) return
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        bodies.push(Buffer.concat(chunks).toString())
        stream.respond({ ':status': 200, 'content-length': 2 })
        stream.end('ok')
      })
    })
  })
  server.listen(wanted, host)
  await once(server, 'listening')
  t.after(() => {
    for (const session of sessions) session.destroy()
    server.close()
  })
  const stop = (): void => {
    server.close()
    for (const session of sessions) session.close()
  }
  return { host: `${host}:${(server.address() as AddressInfo).port}`, sessions, bodies, stop }
}

const refuse = (stream: ServerHttp2Stream): true => {
  stream.close(constants.NGHTTP2_REFUSED_STREAM)
  return true
}

const http2 = { http: { version: 'HTTP2' } }

function routeTo(host: string, policies: object = {}): object {
  return { backends: [{ host, policies: { ...http2, ...policies } }] }
}

test('a request with a body that was refused is sent again, whole', async (t) => {
  const backend = await useBackend(t, (stream, nth) => nth === 1 && refuse(stream))
  const gateway = await useGateway(t, httpConfig([routeTo(backend.host)]))
  for (const body of ['small', 'x'.repeat(65_536)]) {
    const { status } = await request(gateway.port(), { method: 'POST', body })
    assert.equal(status, 200)
    assert.equal(backend.bodies.at(-1), body)
  }
  assert.equal(backend.sessions.length, 1)
})

test('a chunked body that was refused half way goes on from its beginning', async (t) => {
  let client: ReturnType<typeof connect> | null = null
  const backend = await useBackend(t, (stream, nth) => {
    if (nth > 1) return false
    stream.once('data', () => {
      refuse(stream)
      stream.once('close', () => client?.write('6\r\n world\r\n0\r\n\r\n'))
    })
    return true
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend.host)]))
  client = connect(gateway.port(), '127.0.0.1')
  t.after(() => client?.destroy())
  client.write('POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n')
  const [answer] = (await once(client, 'data')) as [Buffer]
  assert.match(answer.toString(), /^HTTP\/1.1 200/)
  assert.deepEqual(backend.bodies, ['hello world'])
})

test('streams beyond the last one of a GOAWAY go to another connection', async (t) => {
  const backend = await useBackend(t, (stream, nth, session) => {
    if (session > 1 || nth === 1) return false
    stream.session?.goaway(constants.NGHTTP2_NO_ERROR, 1)
    return true
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend.host)]))
  for (const body of ['first', 'second']) {
    const { status } = await request(gateway.port(), { method: 'POST', body })
    assert.equal(status, 200)
  }
  assert.deepEqual(backend.bodies, ['first', 'second'])
  assert.equal(backend.sessions.length, 2)
})

test('a body beyond the retry buffer is not sent again', async (t) => {
  const backend = await useBackend(t, (stream, nth) => nth === 1 && refuse(stream))
  const gateway = await useGateway(t, httpConfig([routeTo(backend.host)]))
  const { status } = await request(gateway.port(), { method: 'POST', body: 'x'.repeat(65_537) })
  assert.equal(status, 503)
  assert.deepEqual(backend.bodies, [])
})

test('a stream that was reset for another reason is not sent again', async (t) => {
  const backend = await useBackend(t, (stream, nth) => {
    if (nth !== 2) return false
    stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    return true
  })
  const gateway = await useGateway(t, httpConfig([routeTo(backend.host)]))
  await request(gateway.port())
  assert.equal((await request(gateway.port())).status, 503)
  assert.equal((await request(gateway.port())).status, 200)
})

test('a backend that refuses everything is given up, and the trace tells of every try', async (t) => {
  const backend = await useBackend(t, refuse)
  const gateway = await useGateway(t, httpConfig([routeTo(backend.host)]))
  const events = gateway.trace()
  assert.equal((await request(gateway.port(), { method: 'POST', body: 'x' })).status, 503)
  const results = (await events).filter(({ message }) => message.type === 'backendCallResult')
  assert.equal(results.length, 11)
  for (const { message } of results) assert.match(String(message['error']), /refused/)
})

for (const leaves of [false, true]) {
  test(`a call that one address refuses is sent to the next address${leaves ? ', even when the first address is gone by then' : ''}`, async (t) => {
    const good = await useBackend(t, () => false, '127.0.0.3')
    const port = Number(good.host.split(':')[1])
    const bad = await useBackend(
      t,
      (stream) => {
        if (leaves) bad.stop()
        return refuse(stream)
      },
      '127.0.0.2',
      port,
    )
    const lookup = lookupIn({ 'app.test': ['127.0.0.2', '127.0.0.3'] })
    const gateway = await useGateway(t, httpConfig([routeTo(`app.test:${port}`)]), { lookup })
    let sent = 0
    while (bad.sessions.length === 0) {
      const { status } = await request(gateway.port(), { method: 'POST', body: `body ${++sent}` })
      assert.equal(status, 200)
    }
    assert.equal(good.bodies.length, sent)
    assert.equal(good.bodies.at(-1), `body ${sent}`)
  })
}

test('small requests pass nginx, which takes few of them on a connection', async (t) => {
  const socket = await useNginx(t)
  if (socket === null) return t.skip('nginx is not installed')
  const gateway = await useGateway(t, httpConfig([routeTo(`unix:${socket}`)]))
  const counts: Record<number, number> = {}
  const one = async (client: KeepAliveClient): Promise<void> => {
    for (let i = 0; i < 25; i++) {
      const { status } = await client.post('/', 'a=1')
      counts[status] = (counts[status] ?? 0) + 1
    }
    client.close()
  }
  await Promise.all(Array.from({ length: 40 }, () => one(new KeepAliveClient(gateway.port()))))
  assert.deepEqual(counts, { 200: 1000 })
})

/** The socket file of an nginx that ends each HTTP/2 connection after 20 streams; null without nginx. */
async function useNginx(t: TestContext): Promise<string | null> {
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` }
  if (spawnSync('nginx', ['-v'], { env }).error !== undefined) return null
  const dir = mkdtempSync(join(tmpdir(), 'refused-streams-'))
  t.after(() => rmSync(dir, { recursive: true, force: true }))
  const socket = join(dir, 'http2.sock')
  const user = process.getuid?.() === 0 ? 'user root;' : ''
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${dir}/${kind};`,
  )
  const server = `server { listen unix:${socket} http2; keepalive_requests 20; location / { return 200 ok; } }`
  writeFileSync(
    join(dir, 'nginx.conf'),
    `daemon off; worker_processes 1; pid ${dir}/pid; ${user} events {} http { access_log off; ${temporary.join(' ')} ${server} }`,
  )
  const args = ['-p', dir, '-e', join(dir, 'error.log'), '-c', join(dir, 'nginx.conf')]
  const child: ChildProcess = spawn('nginx', args, { env, stdio: 'ignore' })
  t.after(() => child.kill('SIGKILL'))
  await answering(socket, child)
  return socket
}

async function answering(path: string, child: ChildProcess): Promise<void> {
  for (let isUp = false; !isUp;) {
    assert.equal(child.exitCode, null, 'nginx runs')
    const socket = connect({ path })
    isUp = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
  }
}
