import { randomBytes } from 'node:crypto'
import { compile, type CompileServices } from './compile.ts'
import type { Ir } from './ir/resources.ts'
import { Deadlines } from './net/deadlines.ts'
import type { Logger } from './telemetry/logger.ts'
import { createResolver } from './upstream/dns.ts'
import { Pools } from './upstream/pools.ts'

/** Compiles once in the main thread and throws the result away: what workers could not run is refused before they see it. */
export function checkCompile(ir: Ir): string[] {
  const { services, close } = checkServices()
  try {
    const compiled = compile(ir, services, null)
    for (const route of compiled.routesByContent.values()) route.make()
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    close()
  }
}

/** What compiling needs where nothing will run. */
export function checkServices(): { services: CompileServices; close: () => void } {
  const deadlines = new Deadlines()
  const resolver = createResolver({ family: 'Auto' })
  return {
    services: {
      deadlines,
      resolver,
      pools: new Pools(deadlines, () => ({ opened() {}, closed() {}, connectFailed() {} })),
      upstream: { connectTimeoutMs: 0, poolIdleTimeoutMs: 0, poolMaxIdle: 0 },
      requestMetrics: () => () => {},
      callTimer: () => {},
      ticketSecret: randomBytes(32),
      random: () => 0,
      now: () => 0,
      httpDate: () => '',
      accessLog: () => {},
      log: silent,
    },
    close() {
      resolver.close()
      deadlines.close()
    },
  }
}

const silent: Logger = {
  module: '',
  enabled: () => false,
  error() {},
  warn() {},
  info() {},
  debug() {},
  trace() {},
}
