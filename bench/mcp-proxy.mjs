// An MCP proxy built with the library `mcp-proxy`, run in the folder of its packages: `node program.mjs <port> <origin
// port>`.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Server } from '@modelcontextprotocol/server'
import { proxyServer, startHTTPServer } from 'mcp-proxy'

const [port, origin] = process.argv.slice(2).map(Number)

await startHTTPServer({
  port,
  host: '127.0.0.1',
  async createServer() {
    const client = new Client({ name: 'mcp-proxy', version: '1.0.0' })
    await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${origin}/mcp`)))
    const serverCapabilities = client.getServerCapabilities()
    const server = new Server(client.getServerVersion(), { capabilities: serverCapabilities })
    await proxyServer({ client, server, serverCapabilities })
    return server
  },
})
