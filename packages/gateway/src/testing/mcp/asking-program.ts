import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { addAsking } from './asking-server.ts'

/** A program that asks its client before it answers. */
const server = new McpServer({ name: 'program', version: '1' })
addAsking(server)
await server.connect(new StdioServerTransport())
