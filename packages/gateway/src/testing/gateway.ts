import { randomBytes } from 'node:crypto'
import { compile, type CompiledConfig, type CompileServices } from '../compile.ts'
import type { Ir } from '../ir/resources.ts'
import { Deadlines } from '../net/deadlines.ts'
import { BindServer } from '../net/listener.ts'
import { claimPort } from '../ports.ts'
import { loadConfig } from '../sources/file.ts'
import { printProblems } from '../sources/print-problems.ts'
import type { AccessRecord } from '../telemetry/access-log.ts'
import { createHttpDate } from '../telemetry/http-date.ts'
import { parseLogFilter } from '../telemetry/log-filter.ts'
import { createLogger } from '../telemetry/logger.ts'
import { createRegion, createRegistry } from '../telemetry/metrics.ts'
import { createRequestMetrics } from '../telemetry/request-metrics.ts'
import { createResolver, type ResolverOptions } from '../upstream/dns.ts'
import { Pools } from '../upstream/pools.ts'

/** A gateway in this thread: config to wire, without workers. */
export interface TestGateway {
  /** The port of a bind, by its position in the config. */
  port(index?: number): number
  /** What the access log got, in order. */
  records: AccessRecord[]
  /** Errors that steps threw. */
  bugs: string[]
  /** Resolves when that many requests are finished. */
  finished(count: number): Promise<void>
  /** Makes another config live, as a reload does. */
  reload(yaml: string): Promise<void>
  drain(): void
  connectionCount(): number
  close(): Promise<void>
}

export interface TestGatewayOptions {
  /** Folder that file names in the config are relative to. */
  dir?: string
  env?: Record<string, string>
  random?: () => number
  lookup?: ResolverOptions['lookup']
  connectTimeoutMs?: number
  poolIdleTimeoutMs?: number
}

export async function startGateway(yaml: string, options: TestGatewayOptions = {}): Promise<TestGateway> {
  const deadlines = new Deadlines()
  const records: AccessRecord[] = []
  const bugs: string[] = []
  const waiting: { count: number; resolve: () => void }[] = []
  const filter = parseLogFilter('error')
  if (!filter.ok) throw new Error(filter.problem)
  const logger = createLogger({ filter: filter.value, format: 'text', write: (line) => bugs.push(line) })
  const resolver = createResolver({ family: 'Auto', ...(options.lookup && { lookup: options.lookup }) })
  const pools = new Pools(deadlines, () => ({ opened() {}, closed() {}, connectFailed() {} }))
  const services: CompileServices = {
    deadlines,
    resolver,
    pools,
    requestMetrics: createRequestMetrics(createRegistry({ region: createRegion(), announce: () => {} })),
    callTimer: () => {},
    upstream: {
      connectTimeoutMs: options.connectTimeoutMs ?? 10_000,
      poolIdleTimeoutMs: options.poolIdleTimeoutMs ?? 90_000,
      poolMaxIdle: 1000,
    },
    ticketSecret: randomBytes(32),
    random: options.random ?? Math.random,
    now: () => performance.now(),
    httpDate: createHttpDate(),
    accessLog(record) {
      records.push(record)
      for (const waiter of waiting) if (records.length >= waiter.count) waiter.resolve()
    },
    log: logger.child('pipeline'),
  }
  const servers = new Map<string, BindServer<string>>()
  const ports: number[] = []
  let current: CompiledConfig | null = null

  async function apply(ir: Ir): Promise<void> {
    const next = compile(ir, services, current)
    for (const bind of ir.binds) {
      const compiled = next.binds.get(bind.key)!
      const known = servers.get(bind.key)
      if (known !== undefined) {
        known.update(compiled.state, (listener) => compiled.isGone(listener))
        continue
      }
      const claimed = await claimPort({ ...bind, address: '127.0.0.1' })
      if ('problem' in claimed) throw new Error(claimed.problem)
      const server = new BindServer<string>(compiled.state, deadlines, quiet)
      await server.listen({ port: claimed.port, host: '127.0.0.1', reusePort: false })
      servers.set(bind.key, server)
      ports.push(claimed.port)
    }
    current = next
  }

  await apply(parse(yaml, options))
  return {
    port: (index = 0) => ports[index]!,
    records,
    bugs,
    finished: (count) =>
      records.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    reload: (text) => apply(parse(text, options)),
    drain() {
      for (const server of servers.values()) server.drain()
    },
    connectionCount: () => [...servers.values()].reduce((sum, server) => sum + server.connectionCount, 0),
    async close() {
      for (const server of servers.values()) server.destroy()
      pools.close()
      resolver.close()
      deadlines.close()
    },
  }
}

function parse(yaml: string, options: TestGatewayOptions): Ir {
  const loaded = loadConfig(yaml, {
    file: 'test.yaml',
    dir: options.dir ?? process.cwd(),
    env: options.env ?? {},
  })
  if (!loaded.ok) throw new Error(printProblems(loaded.problems))
  return loaded.ir
}

const quiet = { opened() {}, closed() {}, handshake() {}, refused() {} }
