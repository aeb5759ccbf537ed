import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'
import { useMcpScene } from '../../testing/mcp-scene.ts'
import { useMcpServer } from '../../testing/mcp-server.ts'

const SCHEMA = { type: 'object', properties: { name: { type: 'string' } } } as const
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] })

/** Tools, a prompt and a resource that ask the client before they answer. */
function addAsking(server: McpServer): void {
  server.registerTool('elicit', { inputSchema: { message: z.string() } }, async ({ message }, { sendRequest }) => {
    const params = { message, requestedSchema: SCHEMA }
    return text(await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema))
  })
  server.registerTool('sample', {}, async ({ sendRequest }) => {
    const messages = [{ role: 'user' as const, content: { type: 'text' as const, text: 'capital?' } }]
    const request = { method: 'sampling/createMessage' as const, params: { messages, maxTokens: 9 } }
    return text((await sendRequest(request, CreateMessageResultSchema)).content)
  })
  server.registerTool('roots', {}, async ({ sendRequest }) =>
    text((await sendRequest({ method: 'roots/list' }, ListRootsResultSchema)).roots),
  )
  server.registerTool('both', {}, async ({ sendRequest }) => {
    const ask = (message: string) =>
      sendRequest({ method: 'elicitation/create', params: { message, requestedSchema: SCHEMA } }, ElicitResultSchema)
    const first = await Promise.all([ask('one'), ask('two')])
    return text([...first, await ask('three')].map(({ content }) => content?.['name']))
  })
  server.registerPrompt('greet', {}, async ({ sendRequest }) => {
    const { roots } = await sendRequest({ method: 'roots/list' }, ListRootsResultSchema)
    return { messages: [{ role: 'user', content: { type: 'text', text: String(roots[0]?.uri) } }] }
  })
  server.registerResource('note', 'file:///note', {}, async ({ href }, { sendRequest }) => {
    const { roots } = await sendRequest({ method: 'roots/list' }, ListRootsResultSchema)
    return { contents: [{ uri: href, text: String(roots[0]?.uri) }] }
  })
}

async function useModernClient(t: TestContext, port: number, headers: Record<string, string> = {}): Promise<Client> {
  const client = new Client(
    { name: 'modern', version: '1' },
    {
      capabilities: { roots: {}, sampling: {}, elicitation: {} },
      versionNegotiation: { mode: { pin: '2026-07-28' } },
    },
  )
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///home' }] }))
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: { name: `answer to ${params.message}` },
  }))
  client.setRequestHandler('sampling/createMessage', () => ({
    role: 'assistant',
    content: { type: 'text', text: 'Paris' },
    model: 'test',
  }))
  const url = new URL(`http://127.0.0.1:${port}/mcp`)
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }))
  t.after(() => client.close())
  return client
}

const said = (result: { content: unknown }): unknown =>
  JSON.parse((result.content as { text: string }[])[0]!.text) as unknown

describe('a server with sessions asks a client without', () => {
  for (const names of [['one'], ['one', 'two']]) {
    it(`with ${names.length} targets: elicitation, sampling, roots, in tools, prompts and resources`, async (t) => {
      const servers = await Promise.all(names.map(() => useMcpServer(t, { setUp: addAsking })))
      const { gateway } = await useMcpScene(t, Object.fromEntries(names.map((name, at) => [name, servers[at]!])))
      const client = await useModernClient(t, gateway.port())
      const prefix = names.length === 1 ? '' : 'two_'
      const call = async (name: string, args = {}) =>
        said(await client.callTool({ name: `${prefix}${name}`, arguments: args }))
      assert.deepEqual(await call('elicit', { message: 'who?' }), {
        action: 'accept',
        content: { name: 'answer to who?' },
      })
      assert.deepEqual(await call('sample'), { type: 'text', text: 'Paris' })
      assert.deepEqual(await call('roots'), [{ uri: 'file:///home' }])
      assert.deepEqual(await call('both'), ['answer to one', 'answer to two', 'answer to three'])
      const { messages } = await client.getPrompt({ name: `${prefix}greet` })
      assert.deepEqual(messages[0]?.content, { type: 'text', text: 'file:///home' })
      const uri = names.length === 1 ? 'file:///note' : 'two+file:///note'
      assert.deepEqual((await client.readResource({ uri })).contents, [{ uri, text: 'file:///home' }])
      assert.deepEqual(gateway.bugs, [])
    })
  }
})
