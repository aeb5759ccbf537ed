import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { z } from 'zod'

/** A server by the first major line of the SDK: sessions only, at `/mcp` by Streamable HTTP and at `/sse` by SSE. */
interface OldServer {
  port: number
  close(): Promise<void>
}

export async function startOldServer(): Promise<OldServer> {
  const streamable = new Map<string, StreamableHTTPServerTransport>()
  const streams = new Map<string, SSEServerTransport>()
  const listener = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://old')
    const stream = streams.get(searchParams.get('sessionId') ?? '')
    if (pathname === '/mcp') void serveStreamable(streamable, request, response)
    else if (pathname === '/sse') void openStream(streams, response)
    else if (stream !== undefined) void stream.handlePostMessage(request, response)
    else response.writeHead(404).end()
  })
  // A busy machine may take longer than the usual 5 s to come back to a connection.
  listener.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))
  return {
    port: (listener.address() as AddressInfo).port,
    async close() {
      await Promise.all([...streamable.values(), ...streams.values()].map((transport) => transport.close()))
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

async function serveStreamable(
  transports: Map<string, StreamableHTTPServerTransport>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const id = request.headers['mcp-session-id']
  const known = typeof id === 'string' ? transports.get(id) : undefined
  if (known !== undefined) return known.handleRequest(request, response)
  if (id !== undefined) {
    response.writeHead(404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32_001, message: 'Session not found' }, id: null }))
    return
  }
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (session) => void transports.set(session, transport),
    onsessionclosed: (session) => void transports.delete(session),
  })
  await buildServer().connect(transport)
  await transport.handleRequest(request, response)
}

async function openStream(streams: Map<string, SSEServerTransport>, response: ServerResponse): Promise<void> {
  const transport = new SSEServerTransport('/messages', response)
  streams.set(transport.sessionId, transport)
  response.on('close', () => streams.delete(transport.sessionId))
  await buildServer().connect(transport)
}

function buildServer(): McpServer {
  const server = new McpServer(
    { name: 'old', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true }, logging: {} } },
  )
  let count = 0
  const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })
  server.registerTool('echo', { inputSchema: { message: z.string() } }, ({ message }) => text(message))
  server.registerTool('count_calls', {}, () => text(String(++count)))
  server.registerTool('ask', {}, async () => {
    const answer = await server.server.elicitInput({
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { username: { type: 'string' } } },
    })
    return text(String(answer.content?.['username']))
  })
  server.registerTool('change', {}, () => {
    server.sendToolListChanged()
    return text('told')
  })
  server.registerResource('note', 'old://note', { mimeType: 'text/plain' }, ({ href }) => ({
    contents: [{ uri: href, text: 'A note.' }],
  }))
  server.registerPrompt('hello', {}, () => ({
    messages: [{ role: 'user', content: { type: 'text', text: 'Hello.' } }],
  }))
  return server
}
