import type { WorkerCache } from '../state/worker-cache.ts'
import type { Logger } from '../telemetry/log/logger.ts'

/** What sources of credentials take from the worker. */
export interface CredentialServices {
  /** Wall-clock time in milliseconds since 1970. */
  clock: () => number
  monotonic: () => number
  /** Uniform in [0, 1). */
  random: () => number
  /** Of the process: clouds tell their workloads in it who they are. */
  environment: Readonly<Record<string, string | undefined>>
  /** Asks token endpoints. */
  fetch: typeof fetch
  kept: WorkerCache
  log: Logger
}
