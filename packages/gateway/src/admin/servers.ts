import type { IncomingMessage, Server } from 'node:http'
import { parseAddress } from './address.ts'
import type { EventStream } from './event-stream.ts'
import { type AdminCaller, showsToken } from './credentials.ts'
import { createGuard, isPage } from './guard.ts'
import { createServer, pathOf, text } from './http.ts'
import type { Reply } from './http.ts'
import { listen } from './listen.ts'
import type { Listening } from './listen.ts'
import { answerReadiness, answerStats, createAdminAnswer } from './routes.ts'
import type { AdminAnswer, AdminCallbacks } from './routes.ts'
import { Sessions } from './sessions.ts'
import { toLogin } from './ui/answer-ui.ts'

export interface ServersOptions extends AdminCallbacks {
  /** Each one `<ip>:<port>`, `localhost:<port>`, `unix:/<path>` or `off`. */
  addresses: Record<ServerName, string>
  /** A token that is required for changes of the config alone; null without one. */
  editToken?: string | null
}

type ServerName = 'admin' | 'stats' | 'readiness'

/** A variable of the environment for each address. */
const VARIABLES: Readonly<Record<ServerName, string>> = {
  admin: 'ADMIN_ADDR',
  stats: 'STATS_ADDR',
  readiness: 'READINESS_ADDR',
}

export interface RunningServers {
  /** The addresses of each server, with real ports; empty when the server is off. */
  addresses: Record<ServerName, string[]>
  /** No new connections; streams end, other running answers have a second to finish. */
  close(): Promise<void>
}

type ServersResult = { ok: true; value: RunningServers } | { ok: false; problems: string[] }

/** Starts the admin, metrics and readiness servers in the main thread: all of them, or none. */
export async function startServers(options: ServersOptions): Promise<ServersResult> {
  const problems: string[] = []
  const streams = new Set<EventStream>()
  const bound: Record<ServerName, Listening> = { admin: nothing(), stats: nothing(), readiness: nothing() }
  for (const name of ['admin', 'stats', 'readiness'] as const) {
    const result = await startOne(name, options, streams)
    if (result.ok) bound[name] = result.value
    else problems.push(`${name}: ${result.problem} (${VARIABLES[name]} changes the address)`)
  }
  const servers = Object.values(bound).flatMap((listening) => listening.servers)
  if (problems.length > 0) {
    await closeAll(servers)
    return { ok: false, problems }
  }
  const close = (): Promise<void> => {
    for (const stream of streams) stream.end()
    return closeAll(servers)
  }
  const { admin, stats, readiness } = bound
  const addresses = { admin: admin.addresses, stats: stats.addresses, readiness: readiness.addresses }
  return { ok: true, value: { addresses, close } }
}

async function startOne(name: ServerName, options: ServersOptions, streams: Set<EventStream>) {
  const parsed = parseAddress(options.addresses[name])
  if (!parsed.ok) return parsed
  const address = parsed.value
  if (name !== 'admin') {
    const answer = name === 'stats' ? answerStats : answerReadiness
    return listen(address, () => createServer((request) => answer(request, options), streams))
  }
  const { credentials, editToken = null } = options
  if (credentials.all.length === 0 && address.kind === 'tcp' && !address.loopback) {
    const problem = `address ${options.addresses.admin} can be reached from other machines and needs a token (ADMIN_TOKEN, or config.admin.tokens)`
    return { ok: false as const, problem }
  }
  const sessions = new Sessions(credentials)
  const guard = createGuard(address, credentials, sessions)
  const hasToken = (request: IncomingMessage, { via }: AdminCaller): boolean =>
    via === 'token' || (editToken !== null && showsToken(request, editToken))
  const answer = createAdminAnswer(options, sessions, hasToken)
  return listen(address, () => createServer((request) => guarded(request, guard, answer), streams))
}

function guarded(
  request: IncomingMessage,
  guard: ReturnType<typeof createGuard>,
  answer: AdminAnswer,
): Reply | Promise<Reply> {
  const admission = guard(request)
  if ('caller' in admission) return answer(request, admission.caller)
  const { status, message } = admission.refused
  if (status === 401 && request.method === 'GET' && isPage(pathOf(request) ?? '')) return toLogin(request)
  return text(status, message, status === 401 ? { 'www-authenticate': 'Bearer' } : {})
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(servers.map(closeOne))
}

function closeOne(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const cut = setTimeout(() => server.closeAllConnections(), 1000)
    server.close(() => {
      clearTimeout(cut)
      resolve()
    })
    server.closeIdleConnections()
  })
}

function nothing(): Listening {
  return { addresses: [], servers: [] }
}
