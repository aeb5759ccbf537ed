import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Readable, pipeline } from 'node:stream'

export interface Reply {
  status: number
  type?: 'text/plain; charset=utf-8' | 'application/json' | 'text/plain; version=0.0.4; charset=utf-8'
  headers?: Record<string, string>
  body: string | Iterable<string>
}

/** A small server for operators: short timeouts, small heads, no bodies read. */
export function createServer(answer: (request: IncomingMessage) => Reply): Server {
  const server = createHttpServer(
    {
      headersTimeout: 2000,
      requestTimeout: 5000,
      keepAliveTimeout: 5000,
      connectionsCheckingInterval: 500,
      maxHeaderSize: 8192,
    },
    (request, response) => send(request, response, answerSafely(request, answer)),
  )
  server.maxConnections = 256
  // Accepting can fail later for want of descriptors; traffic must not end with it.
  server.on('error', () => {})
  return server
}

/** The path without its query; null when the target is not a path. */
export function pathOf(request: IncomingMessage): string | null {
  const target = request.url ?? ''
  return target.startsWith('/') ? target.split('?', 1)[0]! : null
}

export function queryOf(request: IncomingMessage): URLSearchParams {
  const target = request.url ?? ''
  const mark = target.indexOf('?')
  return new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1))
}

export function text(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return { status, body, headers }
}

function answerSafely(request: IncomingMessage, answer: (request: IncomingMessage) => Reply): Reply {
  try {
    return answer(request)
  } catch (error) {
    return text(500, `internal error: ${error instanceof Error ? error.message : String(error)}\n`)
  }
}

function send(request: IncomingMessage, response: ServerResponse, reply: Reply): void {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || (request.headers['content-length'] ?? '0') !== '0'
  response.writeHead(reply.status, {
    'content-type': reply.type ?? 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    // A body is never awaited, so the connection cannot be used again.
    ...(hasBody ? { connection: 'close' } : {}),
    ...reply.headers,
  })
  if (request.method === 'HEAD') response.end()
  else if (typeof reply.body === 'string') response.end(reply.body)
  // A client that leaves in the middle is no event.
  else pipeline(Readable.from(reply.body), response, () => {})
}
