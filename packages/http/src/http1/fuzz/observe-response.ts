import { type IncomingMessage, request as startRequest } from 'node:http'
import { type ConnectionOwner, Http1Connection } from '../../client/http1/http1-connection.ts'
import { emptySource } from '../../body/body.ts'
import { HeaderBlock } from '../../fields/header-block.ts'
import { GlancingReader, MemorySocket } from './memory-socket.ts'
import { endToEnd, type Field, forwardedTrailers, type Message, type Observation, pairs } from './observation.ts'
import { fieldsOf, type RunningObservation } from './observe-request.ts'

interface ResponseBytes {
  method: 'GET' | 'HEAD'
  pieces: readonly Buffer[]
  /** Whether the backend closes after the bytes. */
  ends: boolean
}

/** Feeds the bytes to our backend connection as the response to one request. */
export function observeOurClient({ method, pieces, ends }: ResponseBytes): RunningObservation {
  const socket = new MemorySocket()
  const observation: Observation = { messages: [], refused: null, closed: false }
  const connection = new Http1Connection(socket.asSocket, owner, new GlancingReader(socket))
  const request = {
    method,
    target: '/',
    authority: 'a',
    headers: new HeaderBlock(),
    body: emptySource,
  }
  const call = connection.send(
    { ...request, upgrade: '', teTrailers: false },
    {
      informed: (status, headers) => observation.messages.push(messageOf(status, fieldsOf(headers), true)),
      responded({ status, headers, body }) {
        const message = messageOf(status, fieldsOf(headers), false)
        observation.messages.push(message)
        body.pipe({
          source: null,
          write: (chunk) => (message.body += chunk.toString('latin1')),
          takesFramed: true,
          writeFramed(framed, dataAt) {
            message.body += framed.slice(dataAt, -2)
            return true
          },
          flush: () => true,
          end(trailers) {
            message.complete = true
            if (trailers !== null) message.trailers = fieldsOf(trailers)
          },
          abort: (cause) => (observation.refused = cause.message),
        })
      },
      upgraded: () => (observation.closed = true),
      failed: (error) => (observation.refused = error.message),
    },
  )
  give(socket, pieces, ends)
  return { observation, stop: () => (call.cancel(new Error('observed')), socket.destroy()) }
}

/** Feeds the bytes to the runtime's own client, in strict mode. */
export function observeRuntimeClient({ method, pieces, ends }: ResponseBytes): RunningObservation {
  const socket = new MemorySocket()
  const observation: Observation = { messages: [], refused: null, closed: false }
  const request = startRequest({
    createConnection: () => socket.asSocket,
    method,
    insecureHTTPParser: false,
    maxHeaderSize: 1 << 20,
  })
  request.maxHeadersCount = 0
  request.on('information', ({ statusCode, rawHeaders }: { statusCode: number; rawHeaders: string[] }) => {
    observation.messages.push(messageOf(statusCode, pairs(rawHeaders), true))
  })
  request.on('upgrade', (response: IncomingMessage) => {
    observation.messages.push({ ...messageOf(response.statusCode!, pairs(response.rawHeaders), true), last: true })
  })
  request.on('response', (response) => {
    const message = messageOf(response.statusCode!, pairs(response.rawHeaders), false)
    observation.messages.push(message)
    response.on('data', (chunk: Buffer) => (message.body += chunk.toString('latin1')))
    response.on('error', () => {})
    response.on('end', () => {
      message.complete = response.complete
      message.trailers = forwardedTrailers(pairs(response.rawTrailers))
    })
  })
  request.on('error', (error: Error & { code?: string }) => (observation.refused ??= error.code ?? error.message))
  request.end()
  give(socket, pieces, ends)
  return { observation, stop: () => request.destroy() }
}

function give(socket: MemorySocket, pieces: readonly Buffer[], ends: boolean): void {
  socket.feed(pieces)
  if (ends) socket.push(null)
}

function messageOf(status: number, all: Field[], complete: boolean): Message {
  const foreignClose = all.some(([name]) => name === 'proxy-connection')
  return { start: [`${status}`], headers: endToEnd(all), body: '', trailers: [], complete, last: false, foreignClose }
}

const owner: ConnectionOwner = { idle: () => {}, closed: () => {} }
