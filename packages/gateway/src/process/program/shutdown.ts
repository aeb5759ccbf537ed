import { setTimeout as sleep } from 'node:timers/promises'
import type { Supervisor } from '../workers/supervisor.ts'

interface ShutdownOptions {
  /** Milliseconds in which nothing visible changes, so that load balancers notice first. */
  minMs: number
  /** Milliseconds that open requests get after that. */
  maxMs: number
  /** Called when the counters are final, while workers still run. */
  last?: (() => Promise<void>) | null
}

/**
 * Shuts the gateway down gracefully: after `min`, connections close with their current request; ports and idle connections
 * stay open for another `min` for late clients; after `max` more, the remaining connections are cut.
 */
export async function shutdown(supervisor: Supervisor, options: ShutdownOptions): Promise<void> {
  await sleep(options.minMs)
  const windowMs = Math.min(options.minMs, options.maxMs)
  supervisor.drain(Math.max(windowMs, QUIET_MS))
  const finished = new AbortController()
  const deadline = sleep(options.maxMs, undefined, { signal: finished.signal }).catch(() => {})
  await sleep(windowMs)
  const stopped = supervisor.stopListening()
  await Promise.race([stopped, deadline])
  // A pending timer would keep the process alive.
  finished.abort()
  if (options.last) {
    supervisor.cut()
    await Promise.race([stopped, sleep(CUT_MS, undefined, { ref: false })])
    await options.last()
  }
  await supervisor.stop()
}

/** Milliseconds that an idle connection gets for a last request, whose response closes it. */
const QUIET_MS = 1_000
/** A cut request is counted once its connection has closed. */
const CUT_MS = 500
