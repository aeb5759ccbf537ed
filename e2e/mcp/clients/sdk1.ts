import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  PromptListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { ANSWERS, CLIENT, type Library, type TestClient, textOf } from './client.ts'

/** `@modelcontextprotocol/sdk`, the first major line, which most clients in the field are built with. */
export const sdk1: Library[] = [
  {
    name: 'SDK 1, Streamable HTTP',
    isAsked: 'within the call',
    async connect(url) {
      const transport = new StreamableHTTPClientTransport(new URL(url))
      return connect(transport, () => transport.terminateSession())
    },
  },
  {
    name: 'SDK 1, SSE',
    isAsked: 'within the call',
    connect: (url) => connect(new SSEClientTransport(new URL(sseUrl(url))), async () => {}),
  },
]

/** The URL of the transport of the first revision. */
export function sseUrl(url: string): string {
  return url.replace(/\/mcp$/, '/sse')
}

async function connect(transport: Transport, leave: () => Promise<void>): Promise<TestClient> {
  const client = new Client(CLIENT, { capabilities: { roots: {}, sampling: {}, elicitation: {} } })
  client.setRequestHandler(ListRootsRequestSchema, () => ANSWERS.roots)
  client.setRequestHandler(ElicitRequestSchema, () => ANSWERS.elicitation)
  client.setRequestHandler(CreateMessageRequestSchema, () => ANSWERS.sampling)
  let revision = ''
  transport.setProtocolVersion = after(transport.setProtocolVersion?.bind(transport), (version) => {
    revision = version
  })
  await client.connect(transport)
  return {
    revision,
    instructions: client.getInstructions() ?? '',
    serverName: client.getServerVersion()?.name ?? '',
    toolNames: async () =>
      (await pages((cursor) => client.listTools(cursor))).flatMap(({ tools }) => tools.map(({ name }) => name)),
    promptNames: async () =>
      (await pages((cursor) => client.listPrompts(cursor))).flatMap(({ prompts }) => prompts.map(({ name }) => name)),
    resourceUris: async () =>
      (await pages((cursor) => client.listResources(cursor))).flatMap(({ resources }) =>
        resources.map(({ uri }) => uri),
      ),
    templateUris: async () =>
      (await pages((cursor) => client.listResourceTemplates(cursor))).flatMap(({ resourceTemplates }) =>
        resourceTemplates.map(({ uriTemplate }) => uriTemplate),
      ),
    async call(name, args, options) {
      const result = await client.callTool({ name, arguments: args ?? {} }, undefined, options)
      const text = textOf(result.content as Record<string, unknown>[])
      if (result.isError === true) throw new Error(text)
      return text
    },
    read: async (uri) => textOf((await client.readResource({ uri })).contents),
    async prompt(name, args) {
      const { messages } = await client.getPrompt({ name, ...(args && { arguments: args }) })
      return textOf(messages.map(({ content }) => content))
    },
    async complete(prompt, argument, begun) {
      const ref = { type: 'ref/prompt' as const, name: prompt }
      return (await client.complete({ ref, argument: { name: argument, value: begun } })).completion.values
    },
    async watch(take) {
      client.setNotificationHandler(ToolListChangedNotificationSchema, ({ method }) => take(method))
      client.setNotificationHandler(PromptListChangedNotificationSchema, ({ method }) => take(method))
      client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ method, params }) =>
        take(`${method} ${params.uri}`),
      )
    },
    leave,
    close: () => client.close(),
  }
}

async function pages<Page extends { nextCursor?: string | undefined }>(
  fetch: (params: { cursor?: string }) => Promise<Page>,
): Promise<Page[]> {
  const found = [await fetch({})]
  for (let cursor = found[0]?.nextCursor; cursor !== undefined; cursor = found.at(-1)?.nextCursor) {
    found.push(await fetch({ cursor }))
  }
  return found
}

function after(method: ((version: string) => void) | undefined, then: (version: string) => void) {
  return (version: string) => {
    method?.(version)
    then(version)
  }
}
