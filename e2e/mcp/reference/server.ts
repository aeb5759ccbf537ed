import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { localhostHostValidation, localhostOriginValidation, toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server'
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import { buildServer, type Surface } from './build-server.ts'
import { Sessions } from './sessions.ts'
import { Tasks } from './tasks.ts'

/** A server by the official SDK that has everything the conformance suite asks for, in every dated revision. */
export interface ReferenceServer {
  url: string
  port: number
  sessions: Sessions
  /** Calls that clients gave up so far. */
  cancelled(): number
  close(): Promise<void>
}

interface ReferenceOptions {
  name?: string
  /** Only every second tool, prompt and resource: the other half is on a server with the other number. */
  part?: 0 | 1
  pageSize?: number
}

export async function startReferenceServer(options: ReferenceOptions = {}): Promise<ReferenceServer> {
  const tasks = new Tasks()
  let cancelled = 0
  const surface: Surface = {
    name: options.name ?? 'reference',
    part: options.part ?? null,
    pageSize: options.pageSize ?? Infinity,
    tasks,
    skills: options.part === 1 ? null : await SkillsExtension.load(memorySkillFiles(SKILL)),
    cancelled: () => void cancelled++,
  }
  const modern = createMcpHandler(({ era }) => buildServer(surface, era, modern.notify), { legacy: 'reject' })
  const sessions = new Sessions(() => buildServer(surface, 'legacy', null))
  const handle = toNodeHandler({
    fetch: async (request, given) =>
      (await isLegacyRequest(request)) ? sessions.fetch(request) : modern.fetch(request, given),
  })
  const isOfThisHost = localhostHostValidation()
  const isOfThisOrigin = localhostOriginValidation()
  const listener = createServer((request, response) => {
    if (!isOfThisHost(request, response) || !isOfThisOrigin(request, response)) return
    void handle(request, response)
  })
  // A busy machine may take longer than the usual 5 s to come back to a connection.
  listener.keepAliveTimeout = 120_000
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve))
  const { port } = listener.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    port,
    sessions,
    cancelled: () => cancelled,
    async close() {
      tasks.close()
      await sessions.close()
      await modern.close()
      listener.closeAllConnections()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

const SKILL = {
  'greeting/SKILL.md': '---\nname: greeting\ndescription: How to greet.\n---\n\nSay hello. See references/WORDS.md.\n',
  'greeting/references/WORDS.md': 'hello, hi\n',
}
