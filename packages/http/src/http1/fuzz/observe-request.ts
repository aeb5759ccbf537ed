import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Deadlines } from '../../runtime/deadlines.ts'
import type { ConnectionInfo, Exchange } from '../../exchange/exchange.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { Http1ServerConnection } from '../../server/http1/server-connection.ts'
import { MemorySocket } from './memory-socket.ts'
import {
  endToEnd,
  type Field,
  forwardedTrailers,
  lengthLast,
  type Message,
  type Observation,
  pairs,
} from './observation.ts'

export interface RunningObservation {
  observation: Observation
  stop: () => void
}

/** Feeds the bytes to our server connection. The observation is complete after one turn of the event loop. */
export function observeOurs(pieces: readonly Buffer[]): RunningObservation {
  const socket = new MemorySocket()
  const observation: Observation = { messages: [], refused: null, closed: false }
  const connection = new Http1ServerConnection(socket.asSocket, INFO, {
    handler: (exchange) => take(exchange, observation),
    deadlines,
    maxHeaders: 100,
    idleTimeoutMs: 60_000,
    maxDurationMs: 0,
    onRefused: (_info, _status, code) => (observation.refused = code),
    onClosed: () => {},
  })
  socket.once('finish', () => (observation.closed = observation.refused === null))
  socket.feed(pieces)
  return { observation, stop: () => connection.destroy(new Error('observed')) }
}

function take(exchange: Exchange, observation: Observation): void {
  const message: Message = {
    start: [exchange.method, exchange.authority.toLowerCase(), exchange.target],
    headers: fieldsOf(exchange.headers),
    body: '',
    trailers: [],
    complete: false,
    last: false,
    foreignClose: false,
  }
  observation.messages.push(message)
  if (exchange.method === 'CONNECT') {
    message.complete = true
    exchange.takeOver(200, new HeaderBlock())
    return
  }
  exchange.body.pipe({
    source: null,
    write: (chunk) => (message.body += chunk.toString('latin1')),
    flush: () => true,
    end(trailers) {
      message.complete = true
      if (trailers !== null) message.trailers = fieldsOf(trailers)
      exchange.respond(200, new HeaderBlock(), 0).end(null)
    },
    abort: () => {},
  })
}

/** Feeds the bytes to the runtime's own server, in strict mode. */
export function observeRuntime(pieces: readonly Buffer[]): RunningObservation {
  const socket = new MemorySocket()
  const observation: Observation = { messages: [], refused: null, closed: false }
  observations.set(socket, observation)
  socket.once('finish', () => (observation.closed = observation.refused === null))
  runtime.emit('connection', socket)
  socket.feed(pieces)
  return { observation, stop: () => socket.destroy() }
}

const observations = new WeakMap<object, Observation>()
const runtime = createRuntime()

function createRuntime(): Server {
  const server = createServer({
    insecureHTTPParser: false,
    maxHeaderSize: 1 << 20,
    // The rules about Host and Expect are not part of the runtime's parser; ours are stricter in both.
    requireHostHeader: false,
    // The application decides whether to upgrade; this server never does.
    shouldUpgradeCallback: () => false,
  })
  server.maxHeadersCount = 0
  server.on('request', see)
  server.on('checkContinue', see)
  server.on('checkExpectation', see)
  server.on('connect', (request: IncomingMessage) => {
    note(request).complete = true
  })
  server.on('clientError', (error: Error & { code?: string }, socket: Socket) => {
    observations.get(socket)!.refused ??= error.code ?? error.message
  })
  return server
}

function see(request: IncomingMessage, response: ServerResponse): void {
  const message = note(request)
  request.on('data', (chunk: Buffer) => (message.body += chunk.toString('latin1')))
  request.on('error', () => {})
  request.on('end', () => {
    message.complete = true
    const trailers = pairs(request.rawTrailers)
    message.trailers = forwardedTrailers(trailers)
    if (trailers.some(([name]) => /^(proxy-)?connection$/.test(name))) message.foreignClose = true
    response.end()
  })
}

function note(request: IncomingMessage): Message {
  const all = pairs(request.rawHeaders)
  const { method, url } = { method: request.method!, url: request.url! }
  const host = all.find(([name]) => name === 'host')?.[1].toLowerCase() ?? ''
  const [authority, target] = method === 'CONNECT' ? [url.toLowerCase(), ''] : [host, originForm(method, url)]
  const message: Message = {
    start: [method, authority, target],
    headers: endToEnd(all),
    body: '',
    trailers: [],
    complete: false,
    // The runtime drops the bytes that it had read after an upgrade that was not performed.
    last: asksToUpgrade(all),
    foreignClose: all.some(([name]) => name === 'proxy-connection'),
  }
  observations.get(request.socket)!.messages.push(message)
  return message
}

function asksToUpgrade(all: Field[]): boolean {
  return (
    all.some(([name]) => name === 'upgrade') &&
    all.some(([name, value]) => name === 'connection' && /upgrade/i.test(value))
  )
}

function originForm(method: string, url: string): string {
  const path = url.replace(/^https?:\/\/[^/?]*/i, '')
  if (method === 'OPTIONS' && path === '') return '*'
  return path.startsWith('/') || path === '*' ? path : '/' + path
}

export function fieldsOf(block: HeaderBlock): Field[] {
  const fields: Field[] = []
  block.forEach((name, value) => fields.push([name.toLowerCase(), value]))
  return lengthLast(fields)
}

const deadlines = new Deadlines()
const INFO: ConnectionInfo = {
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
