import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { z } from 'zod'

const SCHEMA = { type: 'object', properties: { name: { type: 'string' } } } as const
const text = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value) }] })

/** Tools, a prompt and a resource that ask the client before they answer. */
export function addAsking(server: McpServer): void {
  server.registerTool('elicit', { inputSchema: { message: z.string() } }, async ({ message }, { sendRequest }) => {
    const params = { message, requestedSchema: SCHEMA }
    return text(await sendRequest({ method: 'elicitation/create', params }, ElicitResultSchema))
  })
  // On the stream that the session has of its own, as most servers do.
  server.registerTool('elicit_aside', {}, async () =>
    text(await server.server.elicitInput({ message: 'aside', requestedSchema: SCHEMA })),
  )
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
