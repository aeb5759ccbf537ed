import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { LostTargets } from '../../mcp/engine/lost-targets.ts'
import { OtherWorkerStream } from '../../mcp/remote/other-worker-stream.ts'
import { acceptTls, type AcceptTlsOptions } from '../../../../http/src/server/tls/accept-tls.ts'
import { type BytesEdit, Deadlines } from '@portico/http'
import { createServerTls } from '../../../../http/src/server/tls/tls.ts'
import { dial } from '../../../../http/src/client/pool/dial.ts'
import { splice, type TunnelEnd } from '@portico/http/websocket'
import { Dialogue } from '../ext-proc/dialogue.ts'
import { describeFault, onFault } from '@portico/http/faults'
import { createAuthority } from '../../testing/certificates.ts'
import { sendRaw } from '../../testing/client.ts'
import { FakeTime } from '../../testing/fake-time.ts'
import { startHub } from '../../testing/hub.ts'
import { agree, useAnsweringProcessor } from '../../testing/services/processor.ts'
import { closedPort, httpConfig, routeTo, until, useGateway, useOrigin, useTcpServer } from '../../testing/scene.ts'

/** Faults that are reported while a test runs: scope and first line. */
function useFaults(t: TestContext): string[] {
  const faults: string[] = []
  const stop = onFault((error, scope) => void faults.push(`${scope}: ${describeFault(error).split('\n')[0]}`))
  t.after(stop)
  return faults
}

function useDeadlines(t: TestContext): Deadlines {
  const deadlines = new Deadlines()
  t.after(() => deadlines.close())
  return deadlines
}

function fail(): never {
  throw new Error('injected')
}

/** Two ends of one connection. */
async function usePair(t: TestContext): Promise<[near: Socket, far: Socket]> {
  const server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const far = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true })
  const [near] = (await once(server, 'connection')) as [Socket]
  server.close()
  t.after(() => [near, far].forEach((socket) => socket.destroy()))
  return [near, far.on('error', () => {}).resume()]
}

/** Resolves when the socket has closed, also by a reset. */
function closing(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('close', () => resolve()))
}

const certificate = createAuthority().issue({ names: ['a.test'] })

describe('an exception of a callback of TLS acceptance ends its connection', () => {
  const callbacks: [string, Partial<AcceptTlsOptions<string>>][] = [
    ['choose', { choose: fail }],
    ['onSecure', { onSecure: fail }],
    ['onPassthrough', { choose: () => ({ tls: null, listener: 'x' }), onPassthrough: fail }],
    ['onRefused', { choose: () => null, onRefused: fail }],
  ]
  for (const [name, callback] of callbacks) {
    test(name, async (t) => {
      const faults = useFaults(t)
      const deadlines = useDeadlines(t)
      const made = createServerTls({ ...certificate, root: null }, {})
      assert.ok('tls' in made)
      const { tls } = made
      const usual = { onSecure() {}, onPassthrough() {}, onRefused() {}, choose: () => ({ tls, listener: 'x' }) }
      const server = createServer((socket) =>
        acceptTls<string>(socket, { deadlines, timeout: 60_000, ...usual, ...callback }),
      )
      server.listen(0, '127.0.0.1')
      await once(server, 'listening')
      t.after(() => server.close())
      const { port } = server.address() as AddressInfo
      for (let times = 1; times <= 2; times++) {
        const client = connectTls({ port, host: '127.0.0.1', servername: 'a.test', rejectUnauthorized: false })
        client.on('error', () => {}).resume()
        await closing(client)
        await until(() => faults.length === times)
      }
      assert.deepEqual(faults, ['connection: Error: injected', 'connection: Error: injected'])
    })
  }
})

describe('an exception within a tunnel ends that tunnel', () => {
  const pass: BytesEdit = { push: (bytes) => bytes, end: () => Buffer.alloc(0) }
  for (const [name, edit] of Object.entries({ push: { ...pass, push: fail }, end: { ...pass, end: fail } })) {
    test(`in ${name} of an edit`, async (t) => {
      const faults = useFaults(t)
      const [client, farClient] = await usePair(t)
      const [backend, farBackend] = await usePair(t)
      const ended = Promise.withResolvers<TunnelEnd>()
      splice({ socket: client, early: null }, { socket: backend, early: null, edit }, ended.resolve)
      const gone = closing(farClient)
      farBackend.end('bytes')
      await Promise.all([gone, ended.promise])
      assert.deepEqual(faults, ['request: Error: injected'])
    })
  }

  test('in the callback for its end', async (t) => {
    const faults = useFaults(t)
    const [client, farClient] = await usePair(t)
    const [backend, farBackend] = await usePair(t)
    splice({ socket: client, early: null }, { socket: backend, early: null }, fail)
    farBackend.end()
    farClient.end()
    await until(() => faults.length > 0)
    assert.deepEqual(faults, ['request: Error: injected'])
  })
})

describe('an exception of the callback of a dial', () => {
  const options = { tunnel: null, tls: null, connectTimeoutMs: 60_000, keepalive: null }
  test('that succeeded closes the connection', async (t) => {
    const faults = useFaults(t)
    const closed = Promise.withResolvers<void>()
    const { port } = await useTcpServer(t, (socket) => socket.resume().once('close', () => closed.resolve()))
    dial({ ...options, address: { host: '127.0.0.1', port } }, useDeadlines(t), fail)
    await closed.promise
    assert.deepEqual(faults, ['request: Error: injected'])
  })

  test('that failed is reported', async (t) => {
    const faults = useFaults(t)
    dial({ ...options, address: { host: '127.0.0.1', port: await closedPort() } }, useDeadlines(t), fail)
    await until(() => faults.length > 0)
    assert.deepEqual(faults, ['request: Error: injected'])
  })
})

describe('an exception of mail between workers', () => {
  test('in one listener does not affect the other listeners', async (t) => {
    const faults = useFaults(t)
    const { workers } = startHub(silent, 2)
    const [one, two] = workers as [(typeof workers)[0], (typeof workers)[0]]
    const heard: string[] = []
    one.listen('bad', fail)
    one.listen('good', (text) => void heard.push(text))
    assert.deepEqual(await Promise.all([two.send('bad', 'x'), two.send('good', 'y')]), [true, true])
    await until(() => faults.length > 0)
    assert.deepEqual([heard, faults], [['y'], ['request: Error: injected']])
  })

  test('in the sink of a stream in another worker is reported', async (t) => {
    const faults = useFaults(t)
    const { workers } = startHub(silent, 1)
    const [hub] = workers as [(typeof workers)[0]]
    const sink = { message: () => true, closed() {}, failed: fail }
    new OtherWorkerStream(hub, 'nobody').attend(null, sink, () => {})
    await until(() => faults.length > 0)
    assert.deepEqual(faults, ['request: Error: injected'])
  })
})

test('an exception of the probe of a lost target is reported, and the next probe follows', async (t) => {
  const faults = useFaults(t)
  const time = new FakeTime()
  t.after(() => time.deadlines.close())
  const recovered: string[] = []
  const lost = new LostTargets({ deadlines: time.deadlines, recovered: (target) => void recovered.push(target) })
  let probes = 0
  lost.missed('one', () => (++probes === 1 ? Promise.reject(new Error('injected')) : Promise.resolve(true)))
  await time.advance(2_100)
  await until(() => faults.length > 0)
  await time.advance(10_000)
  await until(() => recovered.length > 0)
  assert.deepEqual([faults, recovered], [['request: Error: injected'], ['one']])
})

test('an exception about trailers for a processor ends that request alone', async (t) => {
  const processor = await useAnsweringProcessor(t, agree)
  const processingOptions = { requestBodyMode: 'None', responseBodyMode: 'None' }
  const origin = await useOrigin(t)
  const extProc = { backendRef: { host: processor.host }, processingOptions }
  const gateway = await useGateway(t, httpConfig([routeTo(origin, { extProc })]))
  const send = () =>
    sendRaw(
      gateway.port(),
      'POST / HTTP/1.1\r\nhost: a\r\nte: trailers\r\nconnection: te, close\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nx-a: 1\r\n\r\n',
    )
  const mock = t.mock.method(Dialogue.prototype, 'askTrailers', () => Promise.reject(new Error('injected')))
  const { status } = await send()
  assert.equal(status, 500)
  assert.equal(mock.mock.callCount(), 1)
  mock.mock.restore()
  assert.equal((await send()).status, 200)
  assert.match(gateway.bugs.join(), /injected/)
})

const silent = { module: '', enabled: () => false, error() {}, warn() {}, info() {}, debug() {}, trace() {} }
