import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { parse } from 'yaml'
import type { TestGateway } from '../gateway.ts'
import { fromInstallation } from '../installed-program.ts'
import { useMcpServer } from '../mcp/mcp-server.ts'
import { useOrigin } from '../scene.ts'
import { ALICE, bearer, type ExampleCase } from './example-case.ts'

/** Examples about tools. */
export const mcpExamples: Record<string, ExampleCase> = {
  async 'mcp.yaml'() {
    const master = 'admin-key-0123456789'
    const admin = JSON.stringify({ key: master, metadata: { role: 'admin' } })
    return {
      replace: { 'alice: { env: ALICE_KEY }': 'admin: { env: ADMIN_KEY }\n              alice: { env: ALICE_KEY }' },
      rewrite: (yaml) => JSON.stringify(parse(yaml, fromInstallation)),
      gateway: { env: { ALICE_KEY: ALICE, ADMIN_KEY: admin } },
      shows: [/"serverInfo":/],
      check: (gateway) => checkPrograms(gateway, master),
    }
  },

  async 'mcp-multiplexing.yaml'(t) {
    const wiki = await useMcpServer(t, { stateful: false, setUp: (server) => addTools(server, ['read', 'write']) })
    const tools = ['find_by_text', 'find_by_id', 'close', 'delete']
    const tickets = await useMcpServer(t, { stateful: false, setUp: (server) => addTools(server, tools) })
    const names = ['wiki_read', 'wiki_write', 'tickets_search', 'tickets_find_by_id', 'tickets_close']
    return {
      replace: { 'port: 9001': `port: ${wiki.port}`, 'port: 9002': `port: ${tickets.port}` },
      shows: [/"name":"wiki_read"[^]*"name":"tickets_search"/],
      async check(gateway) {
        const client = await connect(gateway)
        assert.deepEqual(await namesOf(client), names)
        const { content } = await client.callTool({ name: 'tickets_search', arguments: {} })
        assert.deepEqual(content, [{ type: 'text', text: 'find_by_text was called' }])
        await assert.rejects(client.callTool({ name: 'tickets_delete', arguments: {} }), /Unknown tool/)
        await client.close()
      },
    }
  },

  async 'openapi-tools.yaml'(t) {
    const library = await useOrigin(t, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"title":"Dune"}')
    })
    return {
      replace: { 'port: 9000': `port: ${library.port}` },
      gateway: { env: { LIBRARY_KEY: 'key-of-the-library' } },
      shows: [/Dune/],
      async check(gateway) {
        const client = await connect(gateway)
        assert.deepEqual((await namesOf(client)).toSorted(), ['findBooks', 'getBook'])
        await client.callTool({ name: 'findBooks', arguments: { query: { word: 'sand' } } })
        const seen = library.seen.at(-1)
        assert.deepEqual([seen?.method, seen?.url], ['GET', '/books?word=sand'])
        assert.equal(seen?.headers['authorization'], 'Bearer key-of-the-library')
        await assert.rejects(client.callTool({ name: 'removeBook', arguments: { path: { id: '42' } } }), /Unknown tool/)
        await client.close()
      },
    }
  },
}

/** Tools for who has a key, and those that change something for admins. */
async function checkPrograms(gateway: TestGateway, master: string): Promise<void> {
  await assert.rejects(connect(gateway), /no API key found/)
  const user = await connect(gateway, ALICE)
  const seen = await namesOf(user)
  assert.ok(seen.includes('files_read_text_file') && seen.includes('memory_read_graph'), seen.join())
  assert.ok(!seen.includes('files_write_file') && !seen.includes('files_create_directory'), seen.join())
  const graph = await user.callTool({ name: 'memory_read_graph', arguments: {} })
  assert.notEqual(graph.isError, true)
  const denied = user.callTool({ name: 'files_write_file', arguments: { path: '/nowhere', content: '' } })
  await assert.rejects(denied, /Unknown tool: files_write_file/)
  await user.close()
  const admin = await connect(gateway, master)
  const all = await namesOf(admin)
  assert.ok(all.includes('files_write_file'), all.join())
  await admin.close()
}

function addTools(server: McpServer, names: string[]): void {
  for (const name of names) {
    server.registerTool(name, { description: name }, () => ({
      content: [{ type: 'text', text: `${name} was called` }],
    }))
  }
}

async function namesOf(client: Client): Promise<string[]> {
  return (await client.listTools()).tools.map(({ name }) => name)
}

async function connect(gateway: TestGateway, key?: string): Promise<Client> {
  const client = new Client({ name: 'examples', version: '1.0.0' })
  const url = new URL(`http://127.0.0.1:${gateway.port()}/mcp`)
  const headers: Record<string, string> = key === undefined ? {} : bearer(key)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  return client
}
