import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

/** A real MCP server over Streamable HTTP, one object for each session. */
export interface TestMcpServer {
  port: number
  /** Requests as they came, oldest first. */
  requests: { method: string; headers: IncomingMessage['headers']; body: string }[]
  /** Forgets every session, as a restart does. */
  forget(): void
  /** Live sessions. */
  sessions(): number
  server(index?: number): McpServer
  /** Runs a function for the server of every session that was ever begun. */
  everyServer(run: (server: McpServer) => void): void
}

interface TestMcpServerOptions {
  /** Registers tools, prompts and resources on the server of a new session; by default the tool `echo`. */
  setUp?: (server: McpServer) => void
  jsonAnswers?: boolean
  /** Whether the server has sessions. */
  stateful?: boolean
  name?: string
}

export async function useMcpServer(t: TestContext, options: TestMcpServerOptions = {}): Promise<TestMcpServer> {
  const { setUp = addEcho, jsonAnswers = false, stateful = true, name = 'test' } = options
  const transports = new Map<string, StreamableHTTPServerTransport>()
  const servers: McpServer[] = []
  const requests: TestMcpServer['requests'] = []

  async function connect(): Promise<StreamableHTTPServerTransport> {
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: stateful ? () => randomUUID() : undefined,
      enableJsonResponse: jsonAnswers,
      onsessioninitialized: (id) => void transports.set(id, transport),
    })
    const server = new McpServer({ name, version: '1.0.0' }, { capabilities: { logging: {} } })
    setUp(server)
    await server.connect(transport)
    servers.push(server)
    return transport
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString('utf8')
    requests.push({ method: request.method!, headers: request.headers, body })
    const id = request.headers['mcp-session-id']
    const known = typeof id === 'string' ? transports.get(id) : undefined
    if (id !== undefined && known === undefined) {
      response.writeHead(404, { 'content-type': 'application/json' })
      response.end('{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}')
      return
    }
    const transport = known ?? (await connect())
    await transport.handleRequest(request, response, body === '' ? undefined : JSON.parse(body))
    if (request.method === 'DELETE' && typeof id === 'string') transports.delete(id)
  }

  const http = createServer((request, response) => void answer(request, response).catch(() => response.destroy()))
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  t.after(async () => {
    for (const server of servers) await server.close()
    http.closeAllConnections()
    http.close()
  })
  return {
    port: (http.address() as AddressInfo).port,
    requests,
    forget: () => transports.clear(),
    sessions: () => transports.size,
    server: (index = 0) => servers[index]!,
    everyServer(run) {
      for (const server of servers) run(server)
    },
  }
}

export function addEcho(server: McpServer): void {
  server.registerTool('echo', { description: 'Says it again.', inputSchema: { text: z.string() } }, ({ text }) => ({
    content: [{ type: 'text', text }],
  }))
}
