import { createServer as createHttpServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Readable, pipeline } from 'node:stream'
import { EventStream } from './event-stream.ts'

export interface Reply {
  status: number
  type?: ContentType
  headers?: Record<string, string>
  body: string | Uint8Array | Iterable<string> | AsyncIterable<string> | OpenStream
}

type ContentType =
  | 'text/plain; charset=utf-8'
  | 'application/json'
  | 'text/plain; version=0.0.4; charset=utf-8'
  | 'application/openmetrics-text; version=1.0.0; charset=utf-8'
  | 'application/jsonl'
  | 'text/event-stream'
  | PageType

/** The content types of pages. */
export type PageType =
  | 'text/html; charset=utf-8'
  | 'text/css; charset=utf-8'
  | 'text/javascript; charset=utf-8'
  | 'image/svg+xml'

/** Sends events after the response head; returns a function that is called when the stream ends, for any reason. */
type OpenStream = (stream: EventStream) => () => void

/** The handler of a request; asynchronous when a body has to be read first. */
export type Answer = (request: IncomingMessage) => Reply | Promise<Reply>

/** A small admin server: short timeouts, small heads. `streams` has the open streams. */
export function createServer(answer: Answer, streams: Set<EventStream>): Server {
  const server = createHttpServer(
    {
      headersTimeout: 2000,
      requestTimeout: 5000,
      keepAliveTimeout: 5000,
      connectionsCheckingInterval: 500,
      maxHeaderSize: 8192,
    },
    (request, response) => {
      const reply = answerSafely(request, answer)
      if (!(reply instanceof Promise)) return send({ request, response }, reply, streams)
      void reply.catch(failed).then((made) => send({ request, response }, made, streams))
    },
  )
  server.maxConnections = 256
  // Accepting can fail later for want of descriptors; traffic must not end with it.
  server.on('error', () => {})
  return server
}

/** The path without its query; null when the target is not a path. */
export function pathOf(request: IncomingMessage): string | null {
  const [path = ''] = (request.url ?? '').split('?', 1)
  return path.startsWith('/') ? path : null
}

export function queryOf(request: IncomingMessage): URLSearchParams {
  const target = request.url ?? ''
  const mark = target.indexOf('?')
  return new URLSearchParams(mark < 0 ? '' : target.slice(mark + 1))
}

export function text(status: number, body: string, headers: Record<string, string> = {}): Reply {
  return { status, body, headers }
}

function answerSafely(request: IncomingMessage, answer: Answer): Reply | Promise<Reply> {
  try {
    return answer(request)
  } catch (error) {
    return failed(error)
  }
}

function failed(error: unknown): Reply {
  return text(500, `internal error: ${error instanceof Error ? error.message : String(error)}\n`)
}

interface Call {
  request: IncomingMessage
  response: ServerResponse
}

function send({ request, response }: Call, { status, type, headers, body }: Reply, streams: Set<EventStream>): void {
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || (request.headers['content-length'] ?? '0') !== '0'
  // The connection cannot be used again: the body may not have been read to its end, and a stream ends with its connection.
  const isLast = hasBody || typeof body === 'function'
  response.writeHead(status, {
    'content-type': type ?? 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(isLast ? { connection: 'close' } : {}),
    ...headers,
  })
  if (request.method === 'HEAD') response.end()
  else if (typeof body === 'string' || body instanceof Uint8Array) response.end(body)
  else if (typeof body === 'function') stream({ request, response }, body, streams)
  // A client that leaves in the middle is no event.
  else pipeline(Readable.from(body), response, () => {})
}

function stream({ request, response }: Call, open: OpenStream, streams: Set<EventStream>): void {
  // Unread bytes would hide that the client has left.
  request.resume()
  response.flushHeaders()
  const opened = new EventStream(response)
  streams.add(opened)
  const over = open(opened)
  const close = (): void => {
    streams.delete(opened)
    over()
  }
  // The client may have left while the reply was being made: then nothing closes any more.
  if (response.destroyed || request.socket.destroyed) close()
  else response.once('close', close)
}
