import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { eventsOf, type TracedRequest } from './events.ts'

/** A server with the trace endpoint's contract, and one that takes requests as a listener does. */
export interface FakeGateway {
  /** `127.0.0.1:<port>` */
  admin: string
  /** Of the listener. */
  port: number
  /** Expressions of the watchers, in order of arming; null for none. */
  expressions: (string | null)[]
  seen: IncomingMessage[]
}

export interface FakeGatewayOptions {
  eventsOf?: (request: TracedRequest) => object[]
  token?: string
  /** Says no to these expressions. */
  refuses?: (expression: string | null) => boolean
  /** Runs once a watcher is armed, before anything is traced. */
  onArmed?: (gateway: FakeGateway) => void
  answer?: RequestListener
}

interface Watcher {
  expression: string | null
  stream: ServerResponse
}

export async function useFakeGateway(t: TestContext, options: FakeGatewayOptions = {}): Promise<FakeGateway> {
  const watchers: Watcher[] = []
  const admin = await useServer(t, (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://admin')
    if (pathname !== '/debug/trace') return reply(response, 404, 'not found\n')
    if (request.method !== 'POST') return reply(response, 405, 'method not allowed\n')
    if (options.token !== undefined && request.headers.authorization !== `Bearer ${options.token}`) {
      return reply(response, 401, 'token required\n')
    }
    const expression = searchParams.get('expression')
    gateway.expressions.push(expression)
    if (options.refuses?.(expression) === true) return reply(response, 400, 'invalid expression: no\n')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': ready\n\n')
    const watcher = { expression, stream: response }
    watchers.push(watcher)
    const beat = setInterval(() => response.write(': keepalive\n\n'), 20)
    response.on('close', () => {
      clearInterval(beat)
      if (watchers.includes(watcher)) watchers.splice(watchers.indexOf(watcher), 1)
    })
    options.onArmed?.(gateway)
  })
  const traffic = await useServer(t, (request, response) => {
    gateway.seen.push(request)
    const watcher = watchers.find(({ expression }) => takes(expression, request))
    if (watcher !== undefined) {
      watchers.splice(watchers.indexOf(watcher), 1)
      const { method = '', headers, url: path = '' } = request
      for (const event of (options.eventsOf ?? eventsOf)({ method, host: headers.host ?? '', path, headers })) {
        watcher.stream.write(`data: ${JSON.stringify(event)}\n\n`)
      }
      watcher.stream.end()
    }
    if (options.answer === undefined) reply(response, 200, 'hello from the backend\n')
    else options.answer(request, response)
  })
  const gateway: FakeGateway = { admin: `127.0.0.1:${admin}`, port: traffic, expressions: [], seen: [] }
  return gateway
}

/** A server on a free port of loopback; gives the port. */
export async function useServer(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** A port of loopback where nobody listens. */
export async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

function reply(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status).end(body)
}

/** Knows the one expression that the program writes itself; `true` and none take every request. */
function takes(expression: string | null, { socket }: IncomingMessage): boolean {
  if (expression === null || expression === 'true') return true
  const [, first, last] = /source\.rawPort >= (\d+) && source\.rawPort <= (\d+)$/.exec(expression) ?? []
  const port = socket.remotePort ?? 0
  return first !== undefined && port >= Number(first) && port <= Number(last)
}
