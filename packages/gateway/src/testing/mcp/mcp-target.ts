import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** An MCP server over Streamable HTTP that does what the test says: also what no real one would. */
export interface ScriptedTarget {
  port: number
  /** Requests as they came, oldest first. */
  requests: TargetRequest[]
  /** Those of a JSON-RPC method, or of an HTTP method. */
  asked(method: string): TargetRequest[]
  /** Nobody listens there from now on. */
  close(): void
}

export interface TargetRequest {
  /** The HTTP method. */
  verb: string
  headers: IncomingMessage['headers']
  body: string
  /** The JSON-RPC method; empty when the body is not JSON-RPC. */
  method: string
  id: unknown
  params: Record<string, unknown>
  response: ServerResponse
  /** Sends one whole response. */
  json(message: object | string, status?: number): void
  result(result: object): void
  error(code: number, message: string, status?: number): void
  /** A stream of events. */
  events(): EventWriter
}

export interface EventWriter {
  send(message: object | string, id?: string): void
  /** Whatever lines one likes. */
  write(text: string): void
  end(): void
}

/** True when the request is answered, or is to stay unanswered; anything else leaves it to the usual manners. */
export type Script = (request: TargetRequest) => boolean | void

export async function useTarget(
  t: TestContext,
  script: Script = () => {},
  options: { session?: string } = {},
): Promise<ScriptedTarget> {
  const { session = 'one' } = options
  const requests: TargetRequest[] = []
  const http = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('error', () => {})
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const request = readRequest(incoming, Buffer.concat(chunks).toString('utf8'), response)
      requests.push(request)
      if (script(request) !== true) behave(request, session)
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const close = (): void => {
    http.close()
    http.closeAllConnections()
  }
  t.after(close)
  return {
    close,
    port: (http.address() as AddressInfo).port,
    requests,
    asked: (method) => requests.filter((request) => request.method === method || request.verb === method),
  }
}

/** Answers as a server without tools. */
function behave(request: TargetRequest, session: string): void {
  const { verb, method, id, params, response } = request
  if (verb === 'GET') return void response.writeHead(405).end()
  if (verb === 'DELETE') return void response.writeHead(200).end()
  if (id === undefined) return void response.writeHead(202).end()
  if (method !== 'initialize') return request.error(-32601, `Method not found: ${method}`)
  if (session !== '') response.setHeader('mcp-session-id', session)
  request.result({
    protocolVersion: params['protocolVersion'],
    capabilities: { tools: {} },
    serverInfo: { name: 'scripted', version: '1' },
  })
}

function readRequest(incoming: IncomingMessage, body: string, response: ServerResponse): TargetRequest {
  const { method = '', id, params } = messageOf(body)
  const json = (value: object | string, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof value === 'string' ? value : JSON.stringify(value))
  }
  return {
    verb: incoming.method!,
    headers: incoming.headers,
    body,
    method,
    id,
    params: params ?? {},
    response,
    json,
    result: (result) => json({ jsonrpc: '2.0', id, result }),
    error: (code, text, status) => json({ jsonrpc: '2.0', id, error: { code, message: text } }, status),
    events() {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      return {
        send(value, event) {
          const name = event === undefined ? '' : `id: ${event}\n`
          response.write(
            `event: message\n${name}data: ${typeof value === 'string' ? value : JSON.stringify(value)}\n\n`,
          )
        },
        write: (text) => void response.write(text),
        end: () => void response.end(),
      }
    },
  }
}

function messageOf(body: string): { method?: string; id?: unknown; params?: Record<string, unknown> | null } {
  try {
    return (JSON.parse(body) as object | null) ?? {}
  } catch {
    return {}
  }
}
