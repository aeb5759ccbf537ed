import type { Random } from '../../../../http/src/http1/fuzz/random.ts'
import { BASIC, BODIES, CALLS, CHATS, HEADERS, META, PATHS, TYPES } from './request-parts.ts'

export interface RandomRequest {
  version: 'HTTP/1.1' | 'HTTP/2'
  method: string
  path: string
  headers: [string, string][]
  body: string
  /** Whether the client cancels after the head of the response. */
  isCancelled: boolean
}

/** The knowledge of random clients: the kinds of backends behind `/r0`, `/r1` and so on, credentials, and MCP sessions. */
interface ClientKnowledge {
  kinds: readonly string[]
  tokens: readonly string[]
  /** Hosts that a forward proxy may be asked for. */
  hosts: readonly string[]
  sessions: readonly string[]
}

export function randomRequest(random: Random, { kinds, tokens, hosts, sessions }: ClientKnowledge): RandomRequest {
  const route = random.below(Math.max(1, kinds.length))
  const prefix = random.chance(94) ? `/r${route}` : random.pick(['', '/', '/%720', '//r0', '/plain'])
  const fitting = { ai: 'chat', mcp: 'mcp' }[kinds[route] ?? ''] ?? 'plain'
  const kind = random.chance(75) ? (fitting as Kind) : random.pick(['plain', 'chat', 'mcp', 'odd'] as const)
  const made = kind === 'mcp' ? mcp(random, sessions.length > 0) : { plain, chat, odd }[kind](random)
  const headers: [string, string][] = [...made.headers]
  if (kinds[route] === 'dynamicForwardProxy' && random.chance(90)) headers.push(['host', random.pick(hosts)])
  if (random.chance(30))
    headers.push(['authorization', `${random.pick(['Bearer', 'Basic', ''])} ${random.pick([...tokens, BASIC])}`])
  if (random.chance(20)) headers.push(random.pick(HEADERS))
  if (random.chance(20)) headers.push(random.pick(HEADERS))
  if (kind === 'mcp' && sessions.length > 0 && random.chance(80))
    headers.push(['mcp-session-id', random.pick(sessions)])
  else if (random.chance(5)) headers.push(['mcp-session-id', 'unknown'])
  return {
    version: random.chance(60) ? 'HTTP/1.1' : 'HTTP/2',
    method: made.method,
    path: `${prefix}${made.path}` || '/',
    headers,
    body: made.body,
    // A stream of server events has no end of its own.
    isCancelled: random.chance(8) || (made.method === 'GET' && kind === 'mcp'),
  }
}

type Kind = 'plain' | 'chat' | 'mcp' | 'odd'
type Part = Pick<RandomRequest, 'method' | 'path' | 'headers' | 'body'>

function plain(random: Random): Part {
  const method = random.pick(['GET', 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PURGE'])
  const body = random.chance(50) && method !== 'HEAD' ? random.pick(BODIES) : ''
  return { method, path: random.pick(PATHS), headers: [['content-type', random.pick(TYPES)]], body }
}

function odd(random: Random): Part {
  const headers = random.several(6, () => random.pick(HEADERS))
  return {
    method: random.pick(['GET', 'POST', 'CONNECT', 'OPTIONS']),
    path: random.pick(PATHS),
    headers,
    body: random.pick(BODIES),
  }
}

function chat(random: Random): Part {
  const [path, bodies] = random.pick(random.chance(50) ? CHATS.slice(0, 4) : CHATS)
  const given = random.chance(50) ? bodies[0] : random.pick(bodies)
  const text = JSON.stringify({ ...given, ...(random.chance(40) && { stream: true }) })
  const body = random.chance(6) ? text.slice(0, random.below(text.length)) : text
  return { method: random.chance(95) ? 'POST' : 'GET', path, headers: [['content-type', 'application/json']], body }
}

function mcp(random: Random, hasSession: boolean): Part {
  const method = random.pick(['POST', 'POST', 'POST', 'POST', 'GET', 'DELETE'])
  const [name, given] = random.pick(hasSession || random.chance(40) ? CALLS : CALLS.slice(0, 1))
  const isModern = random.chance(40)
  const isObject = typeof given === 'object' && given !== null
  const params = isModern && (isObject || given === undefined) ? { ...given, ...META } : given
  const message = {
    jsonrpc: '2.0',
    ...(random.chance(90) && { id: random.pick([1, 'a', 0, -1]) }),
    method: name,
    params,
  }
  const text = JSON.stringify(random.chance(5) ? [message, message] : message)
  const body = method !== 'POST' ? '' : random.chance(5) ? text.slice(0, random.below(text.length)) : text
  const version = isModern ? '2026-07-28' : random.pick(['2025-11-25', '2025-11-25', '2025-06-18', '1999-01-01'])
  const headers: [string, string][] = [
    ['content-type', 'application/json'],
    ['accept', random.chance(90) ? 'application/json, text/event-stream' : random.pick(['text/event-stream', '*/*'])],
    ['mcp-protocol-version', version],
    ['mcp-method', name],
  ]
  const item = isObject ? Object.entries(given).find(([key]) => key === 'name' || key === 'uri')?.[1] : undefined
  if (typeof item === 'string') headers.push(['mcp-name', item])
  return { method, path: random.pick(['', '', '', '/mcp', '/sse']), headers, body }
}
