import {
  fromJsonSchema,
  INVALID_PARAMS,
  type McpHttpHandler,
  McpServer,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { SkillCatalog } from '@modelcontextprotocol/server/ext/skills'
import { TASKS_EXTENSION } from './capabilities.ts'
import { stateCodec } from './input-tools.ts'
import { partOf, type ReferenceTool } from './item.ts'
import { prompts } from './prompts.ts'
import { resources } from './resources.ts'
import type { Tasks } from './tasks.ts'
import { tools } from './tools.ts'

/** State that all servers of one endpoint share. Each request, or each session, has its own server. */
export interface Surface {
  name: string
  part: 0 | 1 | null
  /** Maximum number of tools on one page of `tools/list`. */
  pageSize: number
  tasks: Tasks
  skills: SkillCatalog | null
  /** Called when a client cancels a call. */
  cancelled: () => void
}

export function buildServer(surface: Surface, era: 'legacy' | 'modern', notifier: McpHttpHandler['notify'] | null) {
  const server = new McpServer(
    { name: surface.name, version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
        logging: {},
        completions: {},
        ...(era === 'modern' && { extensions: { [TASKS_EXTENSION]: {} } }),
      },
      instructions: `How to use ${surface.name}.`,
      requestState: { verify: (state, ctx) => stateCodec.verify(state, ctx) },
    },
  )
  for (const register of partOf(prompts, surface.part)) register(server)
  for (const register of partOf(resources, surface.part)) register(server)
  surface.skills?.attach(server)
  surface.tasks.serve(server.server)
  serveTools(server, { surface, era, changed: notifier ?? sessionNotifier(server) })
  if (era === 'legacy') {
    server.server.setRequestHandler('resources/subscribe', () => ({}))
    server.server.setRequestHandler('resources/unsubscribe', () => ({}))
  }
  return server
}

interface ToolServing {
  surface: Surface
  era: 'legacy' | 'modern'
  changed: McpHttpHandler['notify']
}

/** Registered with the SDK for its checks of headers, but listed and called here: pages, and errors that are no results. */
function serveTools(server: McpServer, { surface, era, changed }: ToolServing): void {
  const offered = partOf(tools, surface.part)
  const toolsByName = new Map(offered.map((tool) => [tool.name, tool]))
  for (const tool of offered) {
    const { name, description } = tool
    server.registerTool(name, { description, inputSchema: fromJsonSchema(inputSchema(tool)) }, () => ({ content: [] }))
  }
  server.server.setRequestHandler('tools/list', ({ params }) => {
    const from = Number(params?.cursor ?? 0)
    const until = from + surface.pageSize
    return {
      tools: offered.slice(from, until).map((tool) => ({
        name: tool.name,
        description: tool.description,
        inputSchema: inputSchema(tool),
      })),
      ...(until < offered.length && { nextCursor: String(until) }),
    }
  })
  const counts = new Map<string, number>()
  server.server.setRequestHandler('tools/call', async ({ params }, ctx: ServerContext) => {
    const tool = toolsByName.get(params.name)
    if (tool === undefined) throw new ProtocolError(INVALID_PARAMS, `Unknown tool: ${params.name}`)
    const count = (counts.get(tool.name) ?? 0) + 1
    counts.set(tool.name, count)
    ctx.mcpReq.signal.addEventListener('abort', surface.cancelled)
    return tool.call(params.arguments ?? {}, {
      ctx,
      changed,
      tasks: surface.tasks,
      count: era === 'modern' ? 0 : count,
    })
  })
}

function inputSchema({ input }: ReferenceTool) {
  return { type: 'object' as const, ...input }
}

function sessionNotifier(server: McpServer): McpHttpHandler['notify'] {
  return {
    toolsChanged: () => server.sendToolListChanged(),
    promptsChanged: () => server.sendPromptListChanged(),
    resourcesChanged: () => server.sendResourceListChanged(),
    resourceUpdated: (uri) => void server.server.sendResourceUpdated({ uri }),
  }
}
