import assert from 'node:assert/strict'
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { type ClientHttp2Session, connect, constants } from 'node:http2'
import { test, type TestContext } from 'node:test'
import { httpConfig, pathPrefix, routeTo, until, useGateway, useOrigin } from '../../testing/scene.ts'

/** Behaviors of a backend; every response contains the id of its request. */
const MOODS: Record<string, (id: string, response: ServerResponse, message: IncomingMessage) => void> = {
  plain: (id, response) => response.end(`answer to ${id}`),
  chunked: (id, response) => {
    response.write('answer ')
    setImmediate(() => response.end(`to ${id}`))
  },
  late: (id, response) => void setTimeout(() => response.end(`answer to ${id}`), 20),
  hints: (id, response) => {
    response.writeEarlyHints({ link: '</style.css>; rel=preload' })
    response.end(`answer to ${id}`)
  },
  large: (id, response) => response.end(`answer to ${id}`.padEnd(300_000)),
  dropped: (_id, response) => response.destroy(),
  half: (id, response) => {
    response.writeHead(200, { 'content-length': 1_000 })
    response.write(`answer to ${id}`, () => response.destroy())
  },
  // The next request on this connection finds it dead.
  stale: (id, response, message) => {
    response.end(`answer to ${id}`, () => setImmediate(() => message.socket.destroy()))
  },
  busy: (id, response) => response.writeHead(503).end(`answer to ${id}`),
  garbled: (_id, _response, message) => void message.socket.end('HTTP/1.1 200 OK\r\nbad header\r\n\r\n'),
}

const PROMISE = 'nobody gets the answer of somebody else, and nothing is left behind, whatever the backend does'

test(`${PROMISE} and clients of HTTP/1.1 do`, async (t) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 24 })
  await storm(
    t,
    (port, question) => askHttp1(agent, port, question),
    () => agent.destroy(),
  )
})

test(`${PROMISE} and clients of HTTP/2 do`, async (t) => {
  let session: ClientHttp2Session | null = null
  const ask = (port: number, question: Question): Promise<Outcome> =>
    askHttp2((session ??= connect(`http://127.0.0.1:${port}`)), question)
  await storm(t, ask, () => session!.destroy())
})

async function storm(t: TestContext, ask: (port: number, question: Question) => Promise<Outcome>, leave: () => void) {
  const random = seeded(20_261)
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)]!
  const origin = await useOrigin(t, (seen, response, message) => {
    const [, , mood, id] = seen.url.split('/')
    MOODS[mood!]!(id!, response, message)
  })
  const backend = { http: { version: 'HTTP1' } }
  const retry = { attempts: 2, codes: [503], backoff: '5ms' }
  const routes = [
    routeTo(origin, { backend, retry, timeouts: { request: '30s' } }, pathPrefix('/retried')),
    routeTo(origin, { backend }, pathPrefix('/plain')),
  ]
  const gateway = await useGateway(t, httpConfig(routes))
  t.after(leave)

  const total = 1_000
  const outcomes: Promise<Outcome>[] = []
  for (let id = 0; id < total; id++) {
    const question = {
      path: `/${pick(['retried', 'plain'])}/${pick(Object.keys(MOODS))}/${id}`,
      body: pick([0, 0, 0, 10, 5_000, 100_000]),
      method: pick(['POST', 'PUT']),
      leaves: random() < 0.1,
    }
    outcomes.push(ask(gateway.port(), question))
    if (id % 100 === 99) await Promise.all(outcomes)
  }

  for (const [id, { status, body }] of (await Promise.all(outcomes)).entries()) {
    if (status === 200) assert.equal(body.trim(), `answer to ${id}`)
    else assert.ok([0, 502, 503].includes(status), `${id}: ${status} ${body}`)
  }
  leave()
  await until(() => gateway.connectionCount() === 0)
  assert.deepEqual(gateway.bugs, [])
  const answered = gateway.records.filter((record) => record.status === 200).length
  assert.ok(answered > total / 2, `${answered} of ${total} were answered`)
}

interface Question {
  path: string
  method: string
  /** Its size; without one the method is GET. */
  body: number
  /** The client does not wait for the end. */
  leaves: boolean
}

interface Outcome {
  /** 0 when no whole response came. */
  status: number
  body: string
}

function askHttp1(agent: Agent, port: number, { path, method, body, leaves }: Question): Promise<Outcome> {
  return new Promise((resolve) => {
    const none = (): void => resolve({ status: 0, body: '' })
    const options = { agent, port, host: '127.0.0.1', path, method: body === 0 ? 'GET' : method }
    const outgoing = httpRequest(options, (incoming) => {
      let text = ''
      incoming.on('data', (chunk: Buffer) => (text += chunk.toString()))
      incoming.on('end', () => resolve({ status: incoming.complete ? incoming.statusCode! : 0, body: text }))
      incoming.on('error', none)
      if (!leaves) return
      none()
      incoming.destroy()
    })
    outgoing.on('error', none)
    outgoing.on('close', none)
    outgoing.end(body === 0 ? undefined : Buffer.alloc(body, 1))
    if (leaves && body > 5_000) setImmediate(() => outgoing.destroy())
  })
}

function askHttp2(session: ClientHttp2Session, { path, method, body, leaves }: Question): Promise<Outcome> {
  return new Promise((resolve) => {
    const stream = session.request({ ':path': path, ':method': method })
    let status = 0
    let text = ''
    let isWhole = false
    stream.on('response', (headers) => {
      status = headers[':status'] ?? 0
      if (leaves) stream.close(constants.NGHTTP2_CANCEL)
    })
    stream.on('data', (chunk: Buffer) => (text += chunk.toString()))
    stream.on('end', () => (isWhole = true))
    stream.on('error', () => {})
    stream.on('close', () => resolve({ status: isWhole && stream.rstCode === 0 ? status : 0, body: text }))
    stream.end(Buffer.alloc(body, 1))
    if (leaves && body > 5_000) setImmediate(() => stream.close(constants.NGHTTP2_CANCEL))
  })
}

/** The same numbers each time (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
