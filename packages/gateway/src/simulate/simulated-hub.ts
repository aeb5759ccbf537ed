import { HubClient } from '../mcp/hub/hub-client.ts'
import { MainHub } from '../mcp/hub/main-hub.ts'
import type { Hub } from '../mcp/hub.ts'
import type { Logger } from '../telemetry/log/logger.ts'
import { simulatedProcess } from './simulated-process.ts'
import type { SimulatedUpstreams } from './upstreams.ts'

interface HubOptions {
  log: Logger
  clock: () => number
  /** The simulated upstreams, which also answer in place of the programs of stdio MCP targets. */
  upstreams: SimulatedUpstreams
}

/**
 * A simulated MCP hub in the calling thread. The simulated world answers in place of the programs of stdio targets. The
 * state of the hub is created on first use, because most tests have no MCP.
 */
export function createSimulatedHub({ log, clock, upstreams }: HubOptions): Hub {
  let made: HubClient | null = null
  const client = (): HubClient => (made ??= createClient({ log, clock }))
  return {
    isRevoked: (session) => client().isRevoked(session),
    revoke: (session, expiresAt) => client().revoke(session, expiresAt),
    targetSession: (session, target) => client().targetSession(session, target),
    setTargetSession: (...mark) => client().setTargetSession(...mark),
    listen: (address, take) => client().listen(address, take),
    send: (address, text) => client().send(address, text),
    announce: (backend) => client().announce(backend),
    whenChanged: (backend, told) => client().whenChanged(backend, told),
    process: (spec) => simulatedProcess(spec, upstreams),
  }
}

function createClient({ log, clock }: Omit<HubOptions, 'upstreams'>): HubClient {
  const main = new MainHub({ log, clock })
  const client = new HubClient({ post: (message) => queueMicrotask(() => main.received(0, message)), clock })
  main.born(0, (message) => queueMicrotask(() => client.take(message)))
  return client
}
