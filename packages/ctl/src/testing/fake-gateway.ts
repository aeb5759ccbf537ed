import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { eventsOf, type TracedRequest } from './events.ts'

/** A server with the trace endpoint, and one that accepts requests like a listener. */
export interface FakeGateway {
  /** The admin address, `127.0.0.1:<port>`. */
  admin: string
  /** The port of the listener. */
  port: number
  /** Expressions of the watchers in the order of arrival; null for none. */
  expressions: (string | null)[]
  seen: IncomingMessage[]
}

export interface FakeGatewayOptions {
  eventsOf?: (request: TracedRequest) => object[]
  token?: string
  /** Whether the gateway rejects the expression. */
  refuses?: (expression: string | null) => boolean
  /** Called once a watcher is armed, before anything is traced. */
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

/** Starts a server on a free loopback port; returns the port. */
export async function useServer(t: TestContext, listener: RequestListener): Promise<number> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return (server.address() as AddressInfo).port
}

/** Returns a loopback port without a listener. */
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

/** Whether the expression matches; supports only the filter of the program, `true`, and none. */
function takes(expression: string | null, { socket }: IncomingMessage): boolean {
  if (expression === null || expression === 'true') return true
  const [, first, last] = /source\.rawPort >= (\d+) && source\.rawPort <= (\d+)$/.exec(expression) ?? []
  const port = socket.remotePort ?? 0
  return first !== undefined && port >= Number(first) && port <= Number(last)
}
