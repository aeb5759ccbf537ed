import type { IncomingMessage, Server } from 'node:http'
import {
  createGuard,
  createServer,
  listen,
  parseAddress,
  pathOf,
  queryOf,
  type Reply,
  text,
} from '@portico/gateway/operators'

interface ServersOptions {
  /** Addresses as `<ip>:<port>`, `localhost:<port>`, `unix:/<path>` or `off`. */
  healthAddress: string
  adminAddress: string
  /** Kinds that are not read yet; empty when the controller is ready. */
  pending: () => readonly string[]
  metrics: () => string
  logFilter: () => string
  /** Sets the log filter; returns the problem with it, or null. */
  setLogFilter: (filter: string) => string | null
}

interface RunningServers {
  health: string[]
  admin: string[]
  close(): Promise<void>
}

/** Starts the health and admin servers of the controller; an error says what is wrong with an address. */
export async function startServers(options: ServersOptions): Promise<RunningServers> {
  const health = await start(options.healthAddress, () => (request) => answerHealth(request, options))
  try {
    const admin = await start(options.adminAddress, (address) => {
      const guard = createGuard(address)
      return (request) => {
        const admission = guard(request)
        if ('caller' in admission) return answerLogging(request, options)
        return text(admission.refused.status, admission.refused.message)
      }
    })
    const close = (): Promise<void> => closeAll([...health.servers, ...admin.servers])
    return { health: health.addresses, admin: admin.addresses, close }
  } catch (error) {
    await closeAll(health.servers)
    throw error
  }
}

type Answer = (request: IncomingMessage) => Reply
type ListenAddress = Extract<ReturnType<typeof parseAddress>, { ok: true }>['value']

async function start(
  address: string,
  answerOf: (address: ListenAddress) => Answer,
): Promise<{ addresses: string[]; servers: Server[] }> {
  const parsed = parseAddress(address)
  if (!parsed.ok) throw new Error(parsed.problem)
  const answer = answerOf(parsed.value)
  const result = await listen(parsed.value, () => createServer(answer, new Set()))
  if (!result.ok) throw new Error(result.problem)
  return result.value
}

function answerHealth(request: IncomingMessage, { pending, metrics }: ServersOptions): Reply {
  const path = pathOf(request)
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return text(405, 'method not allowed\n', { allow: 'GET, HEAD' })
  if (path === '/healthz') return text(200, 'ok\n')
  if (path === '/metrics') return { status: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: metrics() }
  if (path !== '/readyz') return text(404, 'not found\n')
  const waiting = pending()
  return waiting.length === 0 ? text(200, 'ready\n') : text(503, `not ready, pending: ${waiting.join(', ')}\n`)
}

function answerLogging(request: IncomingMessage, { logFilter, setLogFilter }: ServersOptions): Reply {
  if (pathOf(request) !== '/logging') return text(404, 'not found\n')
  if (request.method !== 'POST') return text(405, 'method not allowed\n', { allow: 'POST' })
  const query = queryOf(request)
  const level = query.get('level')
  if (level === null && query.size > 0) return text(400, 'usage: POST /logging[?level=<level>[,<module>=<level>]...]\n')
  const problem = level === null ? null : setLogFilter(level)
  return problem === null ? text(200, `current log level is ${logFilter()}\n`) : text(400, `${problem}\n`)
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map((server) => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      server.closeAllConnections()
      return closed
    }),
  )
}
