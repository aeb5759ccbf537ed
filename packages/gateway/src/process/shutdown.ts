import { setTimeout as sleep } from 'node:timers/promises'
import type { Supervisor } from './supervisor.ts'

export interface ShutdownOptions {
  /** How long nothing visible changes, so that load balancers notice first. */
  minMs: number
  /** How long after that open work may take. */
  maxMs: number
  /** Called once nothing is counted any more, while there are workers. */
  last?: (() => Promise<void>) | null
}

/**
 * Ends the gateway without cutting anyone off: after `min` connections end with what they are doing, ports stay open
 * for another `min` for clients that come late, and after `max` more what is left is cut.
 */
export async function shutdown(supervisor: Supervisor, options: ShutdownOptions): Promise<void> {
  await sleep(options.minMs)
  supervisor.drain()
  const finished = new AbortController()
  const deadline = sleep(options.maxMs, undefined, { signal: finished.signal }).catch(() => {})
  await sleep(Math.min(options.minMs, options.maxMs))
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

/** What was cut is counted once its connection has closed. */
const CUT_MS = 500
