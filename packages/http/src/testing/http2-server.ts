import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer, type TlsOptions } from 'node:tls'
import { createAuthority } from '../../../gateway/src/testing/certificates.ts'
import type { Sink } from '../body/body.ts'
import { Deadlines } from '../runtime/deadlines.ts'
import type { ConnectionInfo, Exchange } from '../exchange/exchange.ts'
import { HeaderBlock } from '../fields/header-block.ts'
import {
  http2Defaults,
  type Http2ServerConnection,
  type Http2ServerOptions,
  serveHttp2,
} from '../server/http2/server-connection.ts'

/** An HTTP/2 server on a port of its own, with its recorded events. */
export interface TestServer {
  port: number
  connections: Http2ServerConnection[]
  exchanges: Exchange[]
  refused: string[]
  reset: string[]
  closed: number
  /** Bytes read from all open connections. */
  bytesRead(): number
  close(): Promise<void>
}

export async function startServer(
  handler: (exchange: Exchange) => void,
  options: Partial<Http2ServerOptions> = {},
  kind: 'plain' | 'TLS' = 'plain',
): Promise<TestServer> {
  const deadlines = new Deadlines()
  const sockets = new Set<Socket>()
  const serve = (socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    test.connections.push(
      serveHttp2(socket, INFO, {
        ...http2Defaults,
        handler: (exchange) => {
          test.exchanges.push(exchange)
          handler(exchange)
        },
        deadlines,
        idleTimeoutMs: 60_000,
        maxDurationMs: 0,
        onRefused: (_info, status, code) => test.refused.push(`${status} ${code}`),
        onReset: (_info, code) => test.reset.push(code),
        onClosed: () => test.closed++,
        ...options,
      }),
    )
  }
  const server = kind === 'TLS' ? createTlsServer(tlsOptions(), serve) : createServer({ allowHalfOpen: true }, serve)
  const test: TestServer = {
    port: 0,
    connections: [],
    exchanges: [],
    refused: [],
    reset: [],
    closed: 0,
    bytesRead: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0),
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
      deadlines.close()
    },
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  test.port = (server.address() as AddressInfo).port
  return test
}

function tlsOptions(): TlsOptions {
  const { key, cert } = createAuthority().issue({ names: ['a.test'] })
  return { key, cert, ALPNProtocols: ['h2'], allowHalfOpen: true }
}

/** Responds with the text and the given fields. */
export function reply(exchange: Exchange, status: number, text = '', fields: [string, string][] = []): void {
  const body = Buffer.from(text)
  const sink = exchange.respond(status, HeaderBlock.of(fields), body.length)
  if (body.length > 0) sink.write(body)
  sink.end(null)
}

/** Returns a sink that reads a whole body. */
export function collector(
  done: (body: Buffer, trailers: HeaderBlock | null) => void,
  failed?: (cause: Error) => void,
): Sink {
  const chunks: Buffer[] = []
  return {
    source: null,
    write: (chunk) => void chunks.push(chunk),
    flush: () => true,
    end: (trailers) => done(Buffer.concat(chunks), trailers),
    abort: (cause) => failed?.(cause),
  }
}

/** Waits until the condition is true. */
export async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; !condition(); i++) {
    if (i > 10_000) throw new Error('the condition did not come true')
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

export const INFO: ConnectionInfo = {
  address: '127.0.0.1',
  port: 1,
  rawAddress: '127.0.0.1',
  rawPort: 1,
  scheme: 'http',
  sni: '',
  handshake: '',
  source: '127.0.0.1:1',
  destination: () => ({ address: '127.0.0.1', port: 2 }),
  principal: () => '',
}
