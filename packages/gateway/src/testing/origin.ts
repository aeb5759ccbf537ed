import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

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
  server: Server
  close(): Promise<void>
}

export type OriginHandler = (request: SeenRequest, response: ServerResponse, message: IncomingMessage) => void

/** A real HTTP/1.1 server on loopback that remembers what it was asked. */
export async function startOrigin(
  handler: OriginHandler = (_request, response) => response.end('ok'),
): Promise<Origin> {
  const seen: SeenRequest[] = []
  const server = createServer((message, response) => {
    const chunks: Buffer[] = []
    message.on('data', (chunk: Buffer) => chunks.push(chunk))
    message.on('end', () => {
      const request: SeenRequest = {
        method: message.method ?? '',
        url: message.url ?? '',
        rawHeaders: message.rawHeaders,
        headers: message.headers,
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
    server,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
