import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'

/** A server of MCP for Pods: its tool `count` says which Pod it is, and how often it was called in this session. */

const transportById = new Map<string, StreamableHTTPServerTransport>()

async function begin(): Promise<StreamableHTTPServerTransport> {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void transportById.set(id, transport),
  })
  const server = new McpServer({ name: 'pod', version: '1' })
  let count = 0
  server.registerTool('count', {}, () => ({
    content: [{ type: 'text', text: `${process.env['POD_NAME']} ${(count += 1)}` }],
  }))
  await server.connect(transport)
  return transport
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const id = request.headers['mcp-session-id']
  const known = typeof id === 'string' ? transportById.get(id) : undefined
  if (id !== undefined && known === undefined) return void response.writeHead(404).end()
  await (known ?? (await begin())).handleRequest(request, response)
}

createServer((request, response) => void answer(request, response).catch(() => response.destroy())).listen(3000)
process.on('SIGTERM', () => process.exit())
