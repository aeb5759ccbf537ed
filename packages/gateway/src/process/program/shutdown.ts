import { setTimeout as sleep } from 'node:timers/promises'
import type { Supervisor } from '../workers/supervisor.ts'

export interface ShutdownOptions {
  /** Milliseconds in which nothing visible changes, so that load balancers notice first. */
  minMs: number
  /** Milliseconds that open requests get after that. */
  maxMs: number
  /** Called when the counters are final, while workers still run. */
  last?: (() => Promise<void>) | null
}

/**
 * Ends the gateway without cutting anyone off: after `min` connections end with what they are doing, ports and idle
 * connections stay open for another `min` for clients that come late, and after `max` more what is left is cut.
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
  // A timer that is still to come would keep the process.
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
