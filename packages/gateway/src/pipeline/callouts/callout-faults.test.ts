import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Http2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { describe, test, type TestContext } from 'node:test'
import { request } from '../../testing/client.ts'
import {
  closedPort,
  httpConfig,
  pathPrefix,
  routeTo,
  useGateway,
  useOrigin,
  useTcpServer,
} from '../../testing/scene.ts'

/** Whatever a server does that policies ask, the failure mode decides, it is counted, and other routes go on. */

type Trouble = (t: TestContext) => Promise<{ host: string }>

const bySocket =
  (act: (socket: Socket) => void): Trouble =>
  (t) =>
    useTcpServer(t, act)
const onceAsked = (answer: string | Buffer, end = true): Trouble =>
  bySocket((socket) => socket.once('data', () => (end ? socket.end(answer) : socket.write(answer))))

/** A server of HTTP/2 that does this to each call. */
const byStream =
  (act: (stream: ServerHttp2Stream) => void): Trouble =>
  async (t) => {
    const sessions = new Set<Http2Session>()
    const server = createServer().on('stream', (stream: ServerHttp2Stream) => {
      stream.on('error', () => {})
      act(stream)
    })
    server.on('session', (session) => sessions.add(session.on('error', () => {})))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => {
      for (const session of sessions) session.destroy()
      server.close()
    })
    return { host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
  }

const GRPC = { ':status': 200, 'content-type': 'application/grpc' }
const message = (bytes: Buffer): Buffer => {
  const head = Buffer.alloc(5)
  head.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}
const answerWith = (bytes: Buffer): Trouble =>
  byStream((stream) => {
    stream.respond(GRPC, { waitForTrailers: true })
    stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }))
    stream.end(bytes)
  })

const HALF_ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'

/** Failures of servers of every protocol. */
const common: Record<string, Trouble> = {
  'nobody listens': async () => ({ host: `127.0.0.1:${await closedPort()}` }),
  'it takes connections and says nothing': bySocket((socket) => socket.resume()),
  'it closes its half at once, and goes on reading': bySocket((socket) => socket.resume().end()),
  'it resets connections': bySocket((socket) => socket.resetAndDestroy()),
  'it resets once it is asked': bySocket((socket) => socket.once('data', () => socket.resetAndDestroy())),
  'it says something that no protocol knows': onceAsked(Buffer.from('\u0000\u0001 what? \r\n\r\n')),
  'it greets like a server of mail, and waits': bySocket((socket) => socket.resume().write('220 mail ready\r\n')),
}

const ofGrpc: Record<string, Trouble> = {
  ...common,
  'it speaks HTTP/1.1': onceAsked('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
  'it speaks HTTP/2, and no gRPC': byStream((stream) => {
    stream.respond({ ':status': 200, 'content-type': 'text/html' })
    stream.end('<h1>hello</h1>')
  }),
  'it has no such service': byStream((stream) => stream.respond({ ...GRPC, 'grpc-status': '12' }, { endStream: true })),
  'it resets the call': byStream((stream) => stream.close(2)),
  'it resets the call in the middle of a message': byStream((stream) => {
    stream.respond(GRPC)
    stream.write(message(Buffer.alloc(100)).subarray(0, 50), () => stream.close(2))
  }),
  'its message is huge': answerWith(message(Buffer.alloc(2_000_000))),
  'its message claims to be huge': answerWith(Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1])),
  'its message is cut short': answerWith(message(Buffer.alloc(100)).subarray(0, 50)),
  'its message is no message': answerWith(message(Buffer.from([0xff, 0xff, 0xff]))),
  'it sends two messages': answerWith(Buffer.concat([message(Buffer.alloc(0)), message(Buffer.alloc(0))])),
  'it sends none': answerWith(Buffer.alloc(0)),
}

const ofHttp: Record<string, Trouble> = {
  ...common,
  'it speaks HTTP/2': byStream((stream) => stream.respond({ ':status': 200 }, { endStream: true })),
  'it breaks off in the middle': onceAsked(HALF_ANSWER),
  'it stops in the middle': onceAsked(HALF_ANSWER, false),
  'its answer is huge': onceAsked(`HTTP/1.1 200 OK\r\ncontent-length: 2000000\r\n\r\n${'x'.repeat(2_000_000)}`),
  'its answer claims to be huge': onceAsked('HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\n', false),
  'its head is huge': onceAsked(`HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(1_000_000)}\r\n\r\n`, false),
  'its head is garbled': onceAsked('HTTP/1.1 what\r\nx-a: b\r\n\r\n'),
  'it changes the protocol': onceAsked('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', false),
  'it says that it is broken': onceAsked('HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n'),
}

const callouts = [
  {
    name: 'an authorizer that speaks gRPC',
    kind: 'ExtAuthz',
    refusal: 403,
    troubles: ofGrpc,
    policy: (more: object) => ({ extAuth: more }),
  },
  {
    name: 'an authorizer that speaks HTTP',
    kind: 'ExtAuthz',
    refusal: 403,
    troubles: ofHttp,
    policy: (more: object) => ({ extAuth: { http: {}, ...more } }),
  },
  {
    name: 'a rate limit service',
    kind: 'RateLimit',
    refusal: 500,
    troubles: ofGrpc,
    policy: (more: object) => {
      const descriptors = [{ entries: [{ name: 'all', expression: '"x"' }] }]
      return { rateLimit: { global: { domain: 'd', descriptors, ...more } } }
    },
  },
]

/** These never end by themselves. */
const isEndless = (trouble: string): boolean =>
  /says nothing|goes on reading|and waits|stops in the middle/.test(trouble)

for (const { name, kind, refusal, troubles, policy } of callouts) {
  describe(name, () => {
    for (const [trouble, make] of Object.entries(troubles)) {
      test(trouble, async (t) => {
        const [origin, { host }] = await Promise.all([useOrigin(t), make(t)])
        const timeout = isEndless(trouble) ? '100ms' : '10m'
        const route = (failureMode: string) =>
          routeTo(origin, policy({ backendRef: { host }, timeout, failureMode }), pathPrefix(`/${failureMode}`))
        const routes = [route('FailClosed'), route('FailOpen'), routeTo(origin)]
        const gateway = await useGateway(t, httpConfig(routes))
        const ask = async (path: string): Promise<number> => (await request(gateway.port(), { path })).status
        const statuses = await Promise.all(['/FailClosed', '/FailOpen', '/beside'].map(ask))
        assert.deepEqual(statuses, [refusal, 200, 200])
        assert.equal(origin.seen.length, 2)
        assert.equal(unanswered(gateway.metrics(), kind), 2)
        assert.deepEqual(gateway.bugs, [])
      })
    }
  })
}

function unanswered(metrics: string, kind: string): number {
  const lines = metrics.matchAll(/callout_duration_seconds_count\{kind="(\w+)",outcome="(failed|timeout)"\} (\d+)/g)
  return [...lines].reduce((sum, [, of, , count]) => sum + (of === kind ? Number(count) : 0), 0)
}
