import type { WorkerCache } from '../state/worker-cache.ts'
import type { Logger } from '../telemetry/log/logger.ts'

/** Services of the worker that credential sources use. */
export interface CredentialServices {
  /** Wall-clock time in milliseconds since 1970. */
  clock: () => number
  monotonic: () => number
  /** Uniform in [0, 1). */
  random: () => number
  /** Environment variables of the process; clouds use them to identify their workloads. */
  environment: Readonly<Record<string, string | undefined>>
  /** Used for requests to token endpoints. */
  fetch: typeof fetch
  kept: WorkerCache
  log: Logger
}
