import { availableParallelism } from 'node:os'
import { dirname, resolve } from 'node:path'
import { redact } from '../admin/redact.ts'
import { startServers } from '../admin/servers.ts'
import { banner } from './banner.ts'
import type { ConfigSource } from './config-source.ts'
import { onEndSignal } from './end-signals.ts'
import { Gateway } from './gateway.ts'
import { releaseMemoryWhenIdle } from './idle-memory.ts'
import { Reloader } from './reloader.ts'
import { shutdown } from './shutdown.ts'
import type { ProcessConfig } from '../sources/config/schema.ts'
import { firstProblems, printProblem } from '../sources/print-problems.ts'
import { loadSessionKeys, type SessionKeys } from './session-keys.ts'
import { Supervisor, type SupervisorOptions } from './supervisor.ts'
import { identityOf } from './identity.ts'
import { createTraceSource } from './trace-source.ts'
import { LineWriter } from '../telemetry/log/line-writer.ts'
import { parseLogFilter } from '../telemetry/log/log-filter.ts'
import { createLogger, type Logger } from '../telemetry/log/logger.ts'
import { Collector } from '../telemetry/metrics/metrics-collect.ts'
import { provideProcessMetrics } from '../telemetry/metrics/runtime-metrics.ts'
import { VERSION } from '../version.ts'

const OK = 0
const CANNOT_START = 1
const BAD_CONFIG = 2
const CAN_SHARE_PORTS = process.platform === 'linux'

interface Running {
  supervisor: Supervisor
  reloader: Reloader | null
  writer: LineWriter
  log: Logger
  settings: ProcessConfig
  /** Resolves when it is told to end. */
  ended: Promise<void>
  drain: () => void
  closeServers: () => Promise<void>
}

/** Runs the gateway until it is told to end; the promise is the exit code. */
export async function serve(source: ConfigSource): Promise<number> {
  // Apart from this function, which goes on for as long as the gateway runs and would hold all of the loaded config.
  const running = await start(source)
  if (typeof running === 'number') return running
  const { supervisor, reloader, writer, log, settings, ended, drain, closeServers } = running
  releaseMemoryWhenIdle()
  await ended
  drain()
  reloader?.close()
  log.info('draining')
  await shutdown(supervisor, {
    minMs: settings.connectionMinTerminationDeadline,
    maxMs: settings.connectionTerminationDeadline,
  })
  await closeServers()
  log.info('stopped')
  await writer.flush()
  return OK
}

/** Brings the gateway up, or gives the exit code. */
async function start(source: ConfigSource): Promise<Running | number> {
  const reloader = source.path === null ? null : new Reloader(source, source.path)
  const loaded = await source.load()
  if (!loaded.ok) return refuse(BAD_CONFIG, firstProblems(loaded.problems).join('\n'))
  reloader?.watch(loaded)
  const settings = loaded.process
  const filter = parseLogFilter(settings.logging.level)
  if (!filter.ok) return refuse(BAD_CONFIG, filter.problem)

  const writer = new LineWriter()
  const logger = createLogger({ filter: filter.value, format: settings.logging.format, write: writer.write })
  const log = logger.child('main')
  for (const warning of loaded.warnings) log.warn(printProblem(warning))
  const collector = new Collector()
  provideProcessMetrics(collector, VERSION)
  const workers = settings.workers === 'auto' ? availableParallelism() : settings.workers
  const supervisor = new Supervisor({
    // Where ports cannot be shared there is one to have them all.
    workers: CAN_SHARE_PORTS ? workers : 1,
    entry: new URL(import.meta.url.endsWith('.ts') ? './worker.ts' : '../worker.js', import.meta.url),
    log,
    mcpLog: logger.child('mcp'),
    collector,
    settings: workerSettings(settings, filter.value.text),
  })
  const keyFile = settings.session.keyFile
  const sessionKeys = (): SessionKeys =>
    loadSessionKeys({
      environment: process.env,
      keyFile: keyFile === undefined ? null : resolve(dirname(source.path ?? ''), keyFile),
      warn: (message) => log.warn(message),
    })
  const gateway = new Gateway({ supervisor, log, collector, ipv6: settings.enableIpv6, sessionKeys })
  const faults = await gateway.check(loaded.ir, loaded.explain)
  if (faults.length > 0) {
    await writer.flush()
    return refuse(BAD_CONFIG, firstProblems(faults).join('\n'))
  }

  let draining = false
  const ended = Promise.withResolvers<void>()
  const servers = await startServers({
    addresses: { admin: settings.adminAddr, stats: settings.statsAddr, readiness: settings.readinessAddr },
    adminToken: process.env['ADMIN_TOKEN'] ?? null,
    metrics: () => collector.render(),
    readiness: () => ({ draining, pending: gateway.generation === 0 ? ['config'] : [] }),
    configDump: () => redact({ version: VERSION, generation: gateway.generation, config: settings, ...gateway.ir }),
    logFilter: () => logger.filter().text,
    setLogFilter(text) {
      const parsed = parseLogFilter(text)
      if (!parsed.ok) return parsed.problem
      logger.setFilter(parsed.value)
      supervisor.setLogFilter(text)
      return null
    },
    trace: createTraceSource(supervisor.traces, () => gateway.ir),
    quit: () => ended.resolve(),
  })
  if (!servers.ok) return refuse(CANNOT_START, servers.problems.join('\n'))

  const problems = (await supervisor.start()) ?? (await gateway.open(loaded.ir))
  if (problems.length > 0) {
    await Promise.all([supervisor.stop(), servers.value.close()])
    await writer.flush()
    return refuse(CANNOT_START, firstProblems(problems).join('\n'))
  }
  onEndSignal(process, (times) => {
    if (times === 1 && !draining) return ended.resolve()
    // Whoever asks twice does not want to wait.
    writer.flushSync()
    process.exit(OK)
  })
  const addresses = servers.value.addresses
  const { ports } = gateway
  const { guide } = source
  process.stderr.write(banner(`Portico ${VERSION}`, source.name, { ir: loaded.ir, ports, addresses, guide }))

  reloader?.start(gateway, log)
  // With nothing to read again, it means what it means to every program: the terminal is gone.
  if (reloader !== null) process.on('SIGHUP', () => reloader.reload())

  return {
    supervisor,
    reloader,
    writer,
    log,
    settings,
    ended: ended.promise,
    drain: () => (draining = true),
    closeServers: () => servers.value.close(),
  }
}

function workerSettings(settings: ProcessConfig, logFilter: string): SupervisorOptions['settings'] {
  return {
    logFilter,
    logFormat: settings.logging.format,
    identity: identityOf(process.env),
    lookupFamily: settings.enableIpv6 ? settings.dns.lookupFamily : 'V4Only',
    upstream: {
      connectTimeoutMs: settings.backend.connectTimeout,
      poolIdleTimeoutMs: settings.backend.poolIdleTimeout,
      poolMaxIdle: settings.backend.poolMaxSize ?? Number.MAX_SAFE_INTEGER,
    },
    reusePort: CAN_SHARE_PORTS,
  }
}

function refuse(code: number, text: string): number {
  process.stderr.write(text.trimEnd() + '\n')
  return code
}
