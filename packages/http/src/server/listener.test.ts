import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import type { BindState } from './bind-state.ts'
import { Deadlines } from '../runtime/deadlines.ts'
import type { ActiveRequest, Exchange } from '../exchange/exchange.ts'
import { HeaderBlock } from '../fields/header-block.ts'
import { FrameClient } from '../testing/frame-client.ts'
import { http2Defaults } from './http2/server-connection.ts'
import { until } from '../testing/http2-server.ts'
import { BindServer } from './listener.ts'

const REQUEST = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'

interface Bind {
  server: BindServer<string>
  state: BindState<string>
  port: number
  /** Everything that the bind reported, in order. */
  events: string[]
  exchanges: Exchange[]
  raw: Socket[]
  open: (first?: string) => Promise<Socket>
}

async function useBind(t: TestContext, options: Partial<BindState<string>> = {}): Promise<Bind> {
  const events: string[] = []
  const exchanges: Exchange[] = []
  const raw: Socket[] = []
  const state: BindState<string> = {
    kind: 'http',
    proxyProtocol: null,
    admits: null,
    keepalive: null,
    cap: null,
    handshakeTimeoutMs: 10_000,
    http1: { maxHeaders: 100, idleTimeoutMs: 60_000 },
    http2: http2Defaults,
    maxConnectionDurationMs: 0,
    acceptTls: () => assert.fail('no TLS here'),
    chooseTls: () => null,
    onExchange: (exchange) => void exchanges.push(exchange),
    onRaw: (socket): ActiveRequest => {
      raw.push(socket)
      return { openRoute: 'raw' }
    },
    onMalformed: (_info, status, code) => void events.push(`malformed ${status} ${code}`),
    onRefused: (_info, { code }) => void events.push(`closed ${code}`),
    ...options,
  }
  const deadlines = new Deadlines()
  const server = new BindServer<string>(state, deadlines, {
    opened: () => void events.push('opened'),
    closed: (read, written) => void events.push(`closed ${read} ${written}`),
    handshake: () => {},
    refused: (_info, status, code) => void events.push(`refused ${status} ${code}`),
    reset: (_info, code) => void events.push(`reset ${code}`),
  })
  const port = await freePort()
  await server.listen({ port, host: '127.0.0.1', reusePort: false })
  const clients: Socket[] = []
  t.after(async () => {
    server.destroy()
    for (const client of clients) client.destroy()
    await server.stopListening()
    deadlines.close()
  })
  const open = async (first = ''): Promise<Socket> => {
    const client = connect({ port, host: '127.0.0.1' })
    client.on('error', () => {})
    clients.push(client)
    await once(client, 'connect')
    if (first !== '') client.write(first)
    client.resume()
    return client
  }
  return { server, state, port, events, exchanges, raw, open }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

function answer(exchange: Exchange | undefined): void {
  assert.ok(exchange !== undefined)
  exchange.respond(200, new HeaderBlock(), 0).end(null)
}

/** A count as all workers share it. */
function useCount() {
  const count = {
    value: 0,
    /** Changes other than by a connection that enters. */
    changes: [] as number[],
    enter(most: number) {
      if (count.value >= most) return false
      count.value++
      return true
    },
    add(change: number) {
      count.changes.push(change)
      count.value += change
    },
  }
  return count
}

describe('the connections of a port', () => {
  it('count whether or not they have said anything', async (t) => {
    const { server, exchanges, open } = await useBind(t)
    assert.equal(server.connectionCount, 0)
    const silent = await open()
    await until(() => server.connectionCount === 1)
    const speaking = await open(REQUEST)
    await until(() => exchanges.length === 1)
    assert.equal(server.connectionCount, 2)
    silent.destroy()
    await until(() => server.connectionCount === 1)
    speaking.destroy()
    await until(() => server.connectionCount === 0)
  })

  it('are reported when they open and when they close, with their bytes', async (t) => {
    const { exchanges, events, open } = await useBind(t)
    const client = await open(REQUEST)
    await until(() => exchanges.length === 1)
    answer(exchanges[0])
    await once(client, 'data')
    client.end()
    await until(() => events.length === 2)
    assert.deepEqual(events, ['opened', `closed ${REQUEST.length} ${client.bytesRead}`])
    assert.ok(client.bytesRead > 0)
  })

  it('have their requests in progress counted by route', async (t) => {
    const { server, exchanges, open } = await useBind(t)
    await Promise.all([open(REQUEST), open(REQUEST), open(REQUEST), open(REQUEST), open()])
    await until(() => exchanges.length === 4)
    for (const [index, openRoute] of ['a', 'b', 'a', null].entries())
      Object.assign(exchanges[index] ?? {}, { observer: { sent() {}, gone() {}, openRoute } })
    const counts = new Map([['b', 5]])
    server.countOpen(counts)
    assert.deepEqual(Object.fromEntries(counts), { a: 2, b: 6 })
  })

  it('are handed over by TCP listeners, counted by route and forgotten when they close', async (t) => {
    const { server, raw, open } = await useBind(t, { kind: 'tcp' })
    const client = await open('hello')
    await until(() => raw.length === 1)
    const counts = new Map<string, number>()
    server.countOpen(counts)
    assert.deepEqual([[...counts], server.connectionCount], [[['raw', 1]], 1])
    client.destroy()
    raw[0]?.on('error', () => {}).resume()
    await until(() => raw[0]?.readableEnded === true || raw[0]?.destroyed === true)
    raw[0]?.destroy()
    await until(() => server.connectionCount === 0)
  })

  it('get no response ahead of their reading, though each request arrives on its own', async (t) => {
    const { port, exchanges, open } = await useBind(t)
    const client = connect({ port, host: '127.0.0.1' }).pause()
    client.on('error', () => {})
    t.after(() => client.destroy())
    await once(client, 'connect')
    const large = Buffer.alloc(16 * 2 ** 20)
    const mine = (): Exchange[] => exchanges.filter(({ connection }) => connection.port === client.localPort)
    for (let count = 0; count < 8; count++) {
      client.write(REQUEST)
      // A request on another connection is read after this one.
      const [before, other] = [exchanges.length, await open(REQUEST)]
      await until(() => exchanges.length > before && exchanges.some((one) => one.connection.port === other.localPort))
      other.destroy()
      for (const exchange of mine().slice(count)) {
        const sink = exchange.respond(200, new HeaderBlock(), large.length)
        sink.write(large)
        sink.end(null)
      }
    }
    assert.equal(mine().length, 1)
    client.resume()
    await until(() => mine().length === 2)
  })

  const TCP_TABLE = '/proc/net/tcp'
  it('are probed by the kernel while they are silent, if the config says so', async (t) => {
    if (!existsSync(TCP_TABLE)) return t.skip(`no ${TCP_TABLE} on this system`)
    /** The kind of timer that the kernel runs for the accepted socket: 00 for none, 02 for keepalive. */
    const timerOf = ({ localPort = 0, remotePort = 0 }: Socket): string | undefined => {
      const end = (port: number): string => `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`
      const row = new RegExp(`: ${end(remotePort)} ${end(localPort)} \\w\\w \\w+:\\w+ (\\w\\w):`)
      return row.exec(readFileSync(TCP_TABLE, 'latin1'))?.[1]
    }
    const probed = await useBind(t, { keepalive: { retries: 3, timeMs: 600_000, intervalMs: 60_000 } })
    const client = await probed.open()
    await until(() => probed.server.connectionCount === 1)
    assert.equal(timerOf(client), '02')
    const plain = await useBind(t)
    const other = await plain.open()
    await until(() => plain.server.connectionCount === 1)
    assert.equal(timerOf(other), '00')
  })

  it('are all closed at once when the port is destroyed', async (t) => {
    const { server, exchanges, open } = await useBind(t)
    const clients = await Promise.all([open(), open(REQUEST)])
    await until(() => exchanges.length === 1 && server.connectionCount === 2)
    const closed = Promise.all(clients.map((client) => once(client, 'close')))
    server.destroy()
    await closed
    await until(() => server.connectionCount === 0)
  })
})

describe('the refusals of a port', () => {
  it('are recorded as malformed messages only when they were answered', async (t) => {
    const { port, events, open } = await useBind(t)
    await open('GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n')
    await until(() => events.length >= 3)
    assert.match(events.join(', '), /^opened, refused 400 (\w+), malformed 400 \1/)
    events.length = 0
    const client = await FrameClient.open(port)
    // DATA on a stream that was never opened.
    client.send(0, 0, 1, Buffer.from('data'))
    await client.wait(() => false)
    await until(() => events.some((event) => event.startsWith('refused 0 protocol_error')))
    assert.ok(!events.some((event) => event.startsWith('malformed')), events.join(', '))
  })

  it('include heads of HTTP/2 that are reset, which are malformed without a status', async (t) => {
    const { port, events } = await useBind(t)
    const client = await FrameClient.open(port)
    client.headers(1, [[':method', 'GET']])
    await client.outcome(1)
    const [opened, reset, malformed] = events
    assert.deepEqual([opened, malformed], ['opened', reset?.replace('reset', 'malformed 0')])
    client.destroy()
  })

  it('include connections that are not admitted, which get no answer', async (t) => {
    let isOpen = false
    const { server, events, exchanges, open } = await useBind(t, { admits: () => isOpen })
    const client = await open(REQUEST)
    await once(client, 'close')
    await until(() => events.length === 4)
    assert.deepEqual(events.toSorted(), [
      'closed 0 0',
      'closed network_authorization',
      'opened',
      'refused 0 network_authorization',
    ])
    assert.deepEqual([client.bytesRead, exchanges.length, server.connectionCount], [0, 0, 0])
    isOpen = true
    await open(REQUEST)
    await until(() => exchanges.length === 1)
  })
})

describe('the limit on connections', () => {
  it('turns connections away while it is reached, and lets others in when one has closed', async (t) => {
    const count = useCount()
    const { events, exchanges, open } = await useBind(t, { cap: { limit: 1, count } })
    const first = await open(REQUEST)
    await until(() => exchanges.length === 1)
    const second = await open(REQUEST)
    await once(second, 'close')
    assert.deepEqual([second.bytesRead, exchanges.length, count.value], [0, 1, 1])
    assert.deepEqual(events, ['opened', 'opened', 'closed 0 0', 'refused 0 max_connections'])
    first.destroy()
    await until(() => count.value === 0)
    await open(REQUEST)
    await until(() => exchanges.length === 2)
    assert.equal(count.value, 1)
  })

  it('counts the connections that were open before it was set, and forgets them when it is removed', async (t) => {
    const { server, state, exchanges, open } = await useBind(t)
    const clients = await Promise.all([open(REQUEST), open(REQUEST)])
    await until(() => exchanges.length === 2)
    const count = useCount()
    server.update({ ...state, cap: { limit: 5, count } }, () => false)
    assert.equal(count.value, 2)
    server.update({ ...state, cap: { limit: 2, count } }, () => false)
    assert.equal(count.value, 2)
    // The count never drops meanwhile: other workers would admit too many connections.
    assert.deepEqual(count.changes, [2])
    const third = await open(REQUEST)
    await once(third, 'close')
    clients[0]?.destroy()
    await until(() => count.value === 1)
    server.update(state, () => false)
    assert.equal(count.value, 0)
  })
})

describe('a port that changes or drains', () => {
  it('closes idle connections of another kind at once', async (t) => {
    const { server, state, exchanges, open } = await useBind(t)
    const client = await open(REQUEST)
    await until(() => exchanges.length === 1)
    answer(exchanges[0])
    await once(client, 'data')
    server.update({ ...state }, () => true)
    server.update({ ...state, kind: 'tcp' }, () => false)
    await once(client, 'close')
  })

  it('keeps connections without a listener of their own when a listener goes', async (t) => {
    const { server, state, exchanges, open } = await useBind(t)
    const client = await open(REQUEST)
    await until(() => exchanges.length === 1)
    answer(exchanges[0])
    await once(client, 'data')
    server.update({ ...state }, () => true)
    client.write(REQUEST)
    await until(() => exchanges.length === 2)
    answer(exchanges[1])
    const [head] = (await once(client, 'data')) as [Buffer]
    assert.doesNotMatch(head.toString(), /connection: close/)
  })

  it('answers requests in progress, and closes silent clients', async (t) => {
    const { server, exchanges, open } = await useBind(t)
    const [silent, busy] = await Promise.all([open(), open(REQUEST)])
    await until(() => exchanges.length === 1 && server.connectionCount === 2)
    server.drain()
    await once(silent, 'close')
    assert.equal(server.connectionCount, 1)
    answer(exchanges[0])
    const [head] = (await once(busy, 'data')) as [Buffer]
    assert.match(head.toString(), /connection: close/)
    await once(busy, 'close')
  })

  it('answers the first request of a connection that it accepts while it drains, and closes the silent', async (t) => {
    const { server, exchanges, open } = await useBind(t)
    server.drain()
    const [silent, late] = await Promise.all([open(), open(REQUEST)])
    await until(() => exchanges.length === 1)
    answer(exchanges[0])
    const [head] = (await once(late, 'data')) as [Buffer]
    assert.match(head.toString(), /^HTTP\/1\.1 200 .*connection: close/s)
    await once(silent, 'close')
  })
})
