import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HOPS_HEADER } from '@portico/http'

/** A request as an origin received it. */
export interface SeenRequest {
  method: string
  url: string
  /** Names as sent, in order: name, value, name, value … */
  rawHeaders: string[]
  headers: IncomingMessage['headers']
  trailers: IncomingMessage['trailers']
  body: string
}

export interface Origin {
  port: number
  /** `127.0.0.1:<port>` */
  host: string
  seen: SeenRequest[]
  /** The loop detection header of each request, which `seen` leaves out. */
  hops: string[]
  server: Server
  close(): Promise<void>
}

export type OriginHandler = (request: SeenRequest, response: ServerResponse, message: IncomingMessage) => void

/** A real HTTP/1.1 server on loopback that records its requests. */
export async function startOrigin(
  handler: OriginHandler = (_request, response) => response.end('ok'),
): Promise<Origin> {
  const seen: SeenRequest[] = []
  const hops: string[] = []
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const { [HOPS_HEADER]: trail = '', ...headers } = message.headers
      hops.push(String(trail))
      const request: SeenRequest = {
        method: message.method ?? '',
        url: message.url ?? '',
        rawHeaders: withoutHops(message.rawHeaders),
        headers,
        trailers: message.trailers,
        body: Buffer.concat(chunks).toString(),
      }
      seen.push(request)
      handler(request, response, message)
    })
  })
  // On a slow machine it would close idle connections just as the next request is sent on them.
  server.keepAliveTimeout = 0
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    port,
    host: `127.0.0.1:${port}`,
    seen,
    hops,
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function withoutHops(rawHeaders: readonly string[]): string[] {
  const at = rawHeaders.indexOf(HOPS_HEADER)
  return at === -1 ? [...rawHeaders] : rawHeaders.toSpliced(at, 2)
}
