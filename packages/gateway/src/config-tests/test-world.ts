import type { Upstream, UpstreamMessage, World, WorldReply } from '../simulate/world.ts'
import { chatReply } from './chat-reply.ts'
import type { LoadedTest, LoadedTests } from './load-tests.ts'
import { mcpReply } from './mcp-reply.ts'
import type { Reply } from './schema.ts'

/** The world of a test. Responses of a list are used up in order, so each test needs a world of its own. */
export function worldOf({ world }: Pick<LoadedTests, 'world'>, { clock, upstreams }: LoadedTest): World {
  const servers = new Map(Object.entries(upstreams).map(([name, replies]) => [name, serverOf(replies)]))
  // A reply under `*` is for all servers but the programs of stdio MCP targets, which speak MCP only.
  const others = (address: string): Upstream | undefined =>
    address.startsWith('stdio:') ? undefined : servers.get('*')
  return { ...world, clock, upstream: (address) => servers.get(address) ?? others(address) ?? null }
}

function serverOf(replies: readonly Reply[]): Upstream {
  let next = 0
  return {
    // A server that refuses one connection refuses all of them: the list is about requests.
    refusal: replies[0]?.fault === 'refused' ? 'ECONNREFUSED' : null,
    speaksHttp2: true,
    answer(message) {
      const reply = replies[Math.min(next++, replies.length - 1)]
      return reply === undefined ? null : replyOf(reply, message)
    },
  }
}

/** Returns the response of an upstream to a request; null when the reply is for other kinds of requests. */
export function replyOf(
  { status, headers, body, trailers, chat, usage, mcp, delay, fault }: Reply,
  message: UpstreamMessage,
): WorldReply | null {
  const rest = { delayMs: delay, fault: fault === 'refused' ? ('reset' as const) : (fault ?? null) }
  if (chat !== undefined) {
    const made = chatReply(message, { text: chat, usage: usage ?? null })
    return made === null ? null : { ...made, ...rest }
  }
  if (mcp !== undefined) return { ...mcpReply(message, mcp.tools), ...rest }
  const isText = typeof body === 'string' || body === undefined
  const lines = Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value])
  const hasType = lines.some(([name]) => name === 'content-type')
  if (!isText && !hasType) lines.push(['content-type', 'application/json'])
  return {
    ...{ status, headers: lines, trailers: trailers === undefined ? null : Object.entries(trailers) },
    body: Buffer.from(isText ? (body ?? '') : JSON.stringify(body)),
    ...rest,
  }
}
