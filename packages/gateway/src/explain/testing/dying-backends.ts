import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { createSecureContext, TLSSocket } from 'node:tls'
import { DATA, END_HEADERS, frame, HEADERS, literalFields } from '../../../../http/src/testing/frame-client.ts'
import { createAuthority } from '../../testing/certificates.ts'
import { type BackendConnection, useFrameBackend } from '../../testing/http/frame-backend.ts'

/** One request at a backend, with the actions of the backend. */
export interface Peer {
  halfHead(): void
  head(): void
  half(): void
  rest(): void
  /** Sends bytes that are invalid in the protocol, in place of a head or inside a body. */
  garbage(): void
  fin(): void
  reset(): void
  /** HTTP/2 only. */
  resetStream?(code: number): void
  goaway?(): void
}

export interface DyingBackend {
  readonly host: string
  readonly port: number
  /** Handles the requests that arrive from now on. */
  begin: (peer: Peer) => void
  /** The request that came last. */
  peer: Peer | null
  /** Closes every connection, so that no later request reuses one. */
  forget(): void
}

/** The response of an HTTP/1 backend, in three pieces. */
interface Http1Answer {
  /** The head; some depend on the request. */
  head: string | ((request: string) => string)
  half: string
  rest: string
}

const certificate = createAuthority().issue({ names: ['127.0.0.1'] })

export async function useDyingHttp1(t: TestContext, answer: Http1Answer, isTls: boolean): Promise<DyingBackend> {
  const sockets = new Set<Socket>()
  const secureContext = createSecureContext(certificate)
  const server = createServer((raw) => {
    raw.on('error', () => {})
    sockets.add(raw)
    const socket = isTls ? new TLSSocket(raw, { isServer: true, secureContext, ALPNProtocols: ['http/1.1'] }) : raw
    socket.on('error', () => {})
    let isAsked = false
    socket.on('data', (chunk: Buffer) => {
      // A body that follows its head is no second request.
      const request = chunk.toString('latin1')
      if (isAsked && !request.includes(' HTTP/1.1\r\n')) return
      isAsked = true
      const head = typeof answer.head === 'string' ? answer.head : answer.head(request)
      backend.peer = http1Peer(socket, raw, { ...answer, head })
      backend.begin(backend.peer)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const backend: DyingBackend = {
    host: `127.0.0.1:${port}`,
    port,
    begin: () => {},
    peer: null,
    forget() {
      for (const socket of sockets) socket.destroy()
      sockets.clear()
    },
  }
  return backend
}

function http1Peer(socket: Socket, raw: Socket, { head, half, rest }: Http1Answer & { head: string }): Peer {
  return {
    halfHead: () => socket.write(head.slice(0, head.length / 2), 'latin1'),
    head: () => socket.write(head),
    half: () => socket.write(half, 'latin1'),
    rest: () => socket.write(rest, 'latin1'),
    garbage: () => socket.write('\0\0garbage\r\n\r\n'),
    fin: () => socket.end(),
    reset: () => raw.resetAndDestroy(),
  }
}

export async function useDyingHttp2(t: TestContext, isGrpc: boolean, isTls: boolean): Promise<DyingBackend> {
  const frames = await useFrameBackend(
    t,
    (connection, stream) => {
      backend.peer = http2Peer(connection, stream, isGrpc)
      backend.begin(backend.peer)
    },
    isTls ? certificate : null,
  )
  const backend: DyingBackend = {
    host: frames.host,
    port: frames.port,
    begin: () => {},
    peer: null,
    forget() {
      for (const { raw } of frames.connections.splice(0)) raw.destroy()
    },
  }
  return backend
}

function http2Peer(connection: BackendConnection, stream: number, isGrpc: boolean): Peer {
  const fields: [string, string][] = isGrpc ? [['content-type', 'application/grpc']] : []
  const message = (text: string): Buffer =>
    isGrpc ? Buffer.concat([Buffer.from([0, 0, 0, 0, text.length]), Buffer.from(text)]) : Buffer.from(text)
  const { socket } = connection
  return {
    halfHead() {
      const bytes = frame(HEADERS, END_HEADERS, stream, literalFields([[':status', '200'], ...fields]))
      socket.write(bytes.subarray(0, bytes.length - 3))
    },
    head: () => connection.head(stream, fields),
    half: () => connection.send(DATA, 0, stream, message('half')),
    rest() {
      connection.send(DATA, isGrpc ? 0 : 1, stream, message('rest'))
      if (isGrpc) connection.trailers(stream, [['grpc-status', '0']])
    },
    // A frame longer than any may be.
    garbage: () => socket.write(Buffer.alloc(64, 0xff)),
    fin: () => socket.end(),
    reset: () => connection.raw.resetAndDestroy(),
    resetStream: (code) => connection.reset(stream, code),
    goaway: () => connection.goaway(stream, 0),
  }
}
