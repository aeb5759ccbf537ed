import { availableParallelism } from 'node:os'
import { dirname, resolve } from 'node:path'
import { systemRandom } from '../../state/system-random.ts'
import type { JournalSettings } from '../../ledger/worker-messages.ts'
import type { ProxyIdentity } from '../../pipeline/context/proxy-identity.ts'
import type { ProcessConfig } from '../../sources/config/schema.ts'
import type { PostgresSettings } from '../../stores/postgres/postgres-settings.ts'
import type { RedisSettings } from '../../stores/redis/connect.ts'
import type { SupervisorOptions } from './supervisor.ts'

const CAN_SHARE_PORTS = process.platform === 'linux'

/** The number of workers, and whether the main thread is one. */
export interface WorkerPlan {
  workers: number
  /** Whether the main thread is the only worker. */
  isOneThread: boolean
}

/**
 * `planWorkers` decides the number of workers, and whether a single worker runs in its own thread. A gateway with a
 * controller gets large configs often, so its worker runs in its own thread.
 */
export function planWorkers(
  { workers, separateWorker }: Pick<ProcessConfig, 'workers' | 'separateWorker'>,
  { isQuickStart, isControlled }: { isQuickStart: boolean; isControlled: boolean },
  { cores = availableParallelism(), canSharePorts = CAN_SHARE_PORTS } = {},
): WorkerPlan {
  const wanted = workers === 'auto' ? (isQuickStart ? 1 : cores) : workers
  const count = canSharePorts ? wanted : 1
  return { workers: count, isOneThread: count === 1 && !(separateWorker ?? isControlled) }
}

/** The settings of workers, from those of the process. */
export function workerSettings(
  settings: ProcessConfig,
  identity: ProxyIdentity,
  { logFilter, isOneThread, ledger }: { logFilter: string; isOneThread: boolean; ledger: JournalSettings | null },
): SupervisorOptions['settings'] {
  return {
    logFilter,
    logFormat: settings.logging.format,
    identity,
    lookupFamily: settings.enableIpv6 ? settings.dns.lookupFamily : 'V4Only',
    upstream: {
      connectTimeoutMs: settings.backend.connectTimeout,
      poolIdleTimeoutMs: settings.backend.poolIdleTimeout,
      poolMaxIdle: settings.backend.poolMaxSize ?? Number.MAX_SAFE_INTEGER,
    },
    mesh: settings.mesh ?? null,
    ledger,
    redis: redisSettings(settings),
    reusePort: CAN_SHARE_PORTS && !isOneThread,
  }
}

/** The journals of a new process; null without `config.ledger`. `path` is that of the config file. */
export function journalSettings({ ledger, stateDir }: ProcessConfig, path: string): JournalSettings | null {
  if (ledger === undefined || stateDir === undefined) return null
  return { folder: resolve(dirname(path), stateDir), instance: systemRandom(8).toString('hex') }
}

/** The server of `config.stores.redis`; null without one. */
export function redisSettings({ stores }: ProcessConfig): RedisSettings | null {
  if (stores?.redis === undefined) return null
  const { url, ca = null, username = '', password = '', timeout: timeoutMs, prefix, failureMode } = stores.redis
  return { ...url, ca, username, password, timeoutMs, prefix, failureMode }
}

/** The database of `config.stores.postgres`; null without one. */
export function postgresSettings({ stores }: ProcessConfig): PostgresSettings | null {
  if (stores?.postgres === undefined) return null
  const { url, ca = null, password = '', schema, timeout: timeoutMs } = stores.postgres
  return { ...url, ca, password, schema, timeoutMs }
}
