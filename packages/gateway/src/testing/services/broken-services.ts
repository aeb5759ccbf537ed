import type { ServerHttp2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { useHttp2Server } from './grpc.ts'
import { closedPort, useTcpServer } from '../scene.ts'

/** Services that policies ask, each out of order in its own way. */
export interface Breakage {
  name: string
  /** The outcome of a call to the service. */
  outcome: 'failed' | 'timeout'
  /** The service sends a success status before it fails. */
  saysOk?: true
  /** Starts the service and returns its address. */
  start: (t: TestContext) => Promise<string>
}

const byStream = (answer: (stream: ServerHttp2Stream) => void) => async (t: TestContext) =>
  `127.0.0.1:${await useHttp2Server(t, answer)}`
const bySocket = (answer: (socket: Socket) => void) => async (t: TestContext) => (await useTcpServer(t, answer)).host

const GRPC = { ':status': 200, 'content-type': 'application/grpc' }
/** The beginning of a message of so many bytes. */
const prefix = (length: number): Buffer => Buffer.from([0, ...Buffer.from(length.toString(16).padStart(8, '0'), 'hex')])

const anyProtocol: Breakage[] = [
  { name: 'dead', outcome: 'failed', start: async () => `127.0.0.1:${await closedPort()}` },
  { name: 'silent', outcome: 'timeout', start: bySocket((socket) => socket.resume()) },
  { name: 'never reading', outcome: 'timeout', start: bySocket((socket) => socket.pause()) },
  { name: 'closing at once', outcome: 'failed', start: bySocket((socket) => socket.end()) },
  { name: 'resetting at once', outcome: 'failed', start: bySocket((socket) => socket.resetAndDestroy()) },
  { name: 'of another protocol', outcome: 'failed', start: bySocket((socket) => socket.end('SSH-2.0-x\r\n')) },
]

export const brokenGrpc: Breakage[] = [
  ...anyProtocol,
  { name: 'half-open', outcome: 'timeout', start: byStream(() => {}) },
  {
    name: 'answering by HTTP/1',
    outcome: 'failed',
    start: bySocket((socket) => socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n')),
  },
  {
    name: 'answering with a page',
    outcome: 'failed',
    start: byStream((stream) => {
      stream.respond({ ':status': 200, 'content-type': 'text/html' })
      stream.end('<p>welcome</p>')
    }),
  },
  {
    name: 'answering 503',
    outcome: 'failed',
    start: byStream((stream) => stream.respond({ ':status': 503 }, { endStream: true })),
  },
  {
    name: 'saying UNAVAILABLE',
    outcome: 'failed',
    start: byStream((stream) => stream.respond({ ...GRPC, 'grpc-status': '14' }, { endStream: true })),
  },
  {
    name: 'sending huge messages',
    outcome: 'failed',
    start: byStream((stream) => {
      stream.respond(GRPC)
      stream.write(prefix(64 * 2 ** 20))
      stream.write(Buffer.alloc(65_536))
    }),
  },
  {
    name: 'resetting within a message',
    outcome: 'failed',
    start: byStream((stream) => {
      stream.respond(GRPC)
      stream.write(Buffer.concat([prefix(100), Buffer.alloc(10)]), () => stream.close(8))
    }),
  },
  {
    name: 'leaving within a message',
    outcome: 'failed',
    start: byStream((stream) => {
      stream.respond(GRPC)
      stream.write(Buffer.concat([prefix(100), Buffer.alloc(10)]), () => stream.session?.destroy())
    }),
  },
  {
    name: 'falling silent within a message',
    outcome: 'timeout',
    start: byStream((stream) => {
      stream.respond(GRPC)
      stream.write(Buffer.concat([prefix(100), Buffer.alloc(10)]))
    }),
  },
  {
    name: 'sending what is no message',
    outcome: 'failed',
    start: byStream((stream) => {
      stream.respond(GRPC)
      stream.end(Buffer.concat([prefix(2), Buffer.from([0x0a, 0x7f])]))
    }),
  },
  {
    name: 'ending without a status',
    outcome: 'failed',
    start: byStream((stream) => {
      stream.respond(GRPC)
      stream.end()
    }),
  },
]

export const brokenHttp: Breakage[] = [
  ...anyProtocol,
  {
    name: 'answering 500',
    outcome: 'failed',
    start: bySocket((socket) => socket.end('HTTP/1.1 500 Oops\r\ncontent-length: 0\r\n\r\n')),
  },
  {
    name: 'of HTTP/2 alone',
    outcome: 'failed',
    start: bySocket((socket) => socket.end(Buffer.from('000000040000000000', 'hex'))),
  },
  {
    name: 'leaving within a head',
    outcome: 'failed',
    start: bySocket((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-le')),
  },
  {
    name: 'leaving within a body',
    outcome: 'failed',
    saysOk: true,
    start: bySocket((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal')),
  },
  {
    name: 'falling silent within a body',
    outcome: 'timeout',
    saysOk: true,
    start: bySocket((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhal')),
  },
  {
    name: 'sending huge bodies',
    outcome: 'failed',
    saysOk: true,
    start: bySocket((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 90000000\r\n\r\n')
      socket.write(Buffer.alloc(2 * 2 ** 20))
    }),
  },
]
