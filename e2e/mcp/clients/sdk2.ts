import {
  Client,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client'
import { ANSWERS, CLIENT, type Library, type TestClient, textOf } from './client.ts'
import { sseUrl } from './sdk1.ts'

/** `@modelcontextprotocol/client`, the second major line, with each way to agree on a revision. */
export const sdk2: Library[] = [
  {
    name: 'SDK 2, Streamable HTTP, sessions',
    isAsked: 'within the call',
    connect: (url) => connectStreamable(url, 'legacy'),
  },
  {
    name: 'SDK 2, Streamable HTTP, negotiated',
    isAsked: 'between calls',
    connect: (url) => connectStreamable(url, 'auto'),
  },
  {
    name: 'SDK 2, Streamable HTTP, pinned to 2026-07-28',
    isAsked: 'between calls',
    connect: (url) => connectStreamable(url, { pin: '2026-07-28' }),
  },
  {
    name: 'SDK 2, SSE',
    isAsked: 'within the call',
    connect: (url) => connect(new SSEClientTransport(new URL(sseUrl(url))), 'legacy', async () => {}),
  },
]

export function connectStreamable(url: string, mode: VersionNegotiationMode): Promise<TestClient> {
  const transport = new StreamableHTTPClientTransport(new URL(url))
  return connect(transport, mode, async () => {
    if (transport.sessionId !== undefined) await transport.terminateSession()
  })
}

async function connect(
  transport: Transport,
  mode: VersionNegotiationMode,
  leave: () => Promise<void>,
): Promise<TestClient> {
  const client = new Client(CLIENT, {
    capabilities: { roots: {}, sampling: {}, elicitation: {} },
    versionNegotiation: { mode },
  })
  client.setRequestHandler('roots/list', () => ANSWERS.roots)
  client.setRequestHandler('elicitation/create', () => ANSWERS.elicitation)
  client.setRequestHandler('sampling/createMessage', () => ANSWERS.sampling)
  await client.connect(transport)
  return {
    revision: client.getNegotiatedProtocolVersion() ?? '',
    instructions: client.getInstructions() ?? '',
    serverName: client.getServerVersion()?.name ?? '',
    toolNames: async () => (await client.listTools()).tools.map(({ name }) => name),
    promptNames: async () => (await client.listPrompts()).prompts.map(({ name }) => name),
    resourceUris: async () => (await client.listResources()).resources.map(({ uri }) => uri),
    templateUris: async () =>
      (await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    async call(name, args, options) {
      const result = await client.callTool({ name, arguments: args ?? {} }, options)
      const text = textOf(result.content)
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
      client.setNotificationHandler('notifications/tools/list_changed', ({ method }) => take(method))
      client.setNotificationHandler('notifications/prompts/list_changed', ({ method }) => take(method))
      client.setNotificationHandler('notifications/resources/updated', ({ method, params }) =>
        take(`${method} ${params.uri}`),
      )
      if (client.getProtocolEra() === 'modern') {
        await client.listen({ toolsListChanged: true, promptsListChanged: true })
      }
    },
    leave,
    close: () => client.close(),
  }
}
