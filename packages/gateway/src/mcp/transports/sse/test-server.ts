import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js'
import { z } from 'zod'
import { useServer } from './test-target.ts'

/** A server of the SDK for the transport of 2024-11-05: tools `echo`, which reports progress, and `wait`, for ever. */
export async function useSdkServer(t: TestContext, setUp: (server: McpServer) => void = () => {}) {
  const transports = new Map<string, SSEServerTransport>()
  let opened = 0
  let waiting = 0
  let last: McpServer | null = null
  const port = await useServer(t, (message, response) => void answer(message, response))

  async function answer(message: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(message.url!, 'http://x')
    if (message.method === 'POST') {
      const transport = transports.get(url.searchParams.get('sessionId') ?? '')
      if (transport === undefined) response.writeHead(404).end('no such session')
      else await transport.handlePostMessage(message, response)
      return
    }
    opened++
    const transport = new SSEServerTransport('/messages', response)
    transports.set(transport.sessionId, transport)
    response.on('close', () => transports.delete(transport.sessionId))
    const server = new McpServer({ name: 'old', version: '1' })
    last = server
    setUp(server)
    server.registerTool('echo', { inputSchema: { text: z.string() } }, async ({ text }, extra) => {
      const progressToken = extra._meta?.progressToken
      if (progressToken !== undefined) {
        await extra.sendNotification({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
      }
      return { content: [{ type: 'text', text }] }
    })
    server.registerTool('wait', {}, () => {
      waiting++
      return new Promise<never>(() => {})
    })
    await server.connect(transport)
  }

  return {
    port,
    opened: () => opened,
    open: () => transports.size,
    waiting: () => waiting,
    last: () => last!,
    /** As a restart does. */
    forget() {
      for (const transport of transports.values()) void transport.close()
      transports.clear()
    },
  }
}
