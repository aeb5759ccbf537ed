import type { Socket } from 'node:net'
import { LAST_EVENT, type TraceEvent } from '../../telemetry/trace/trace-event.ts'
import type { TraceSource } from '../trace.ts'

interface WatchedRequest {
  /** Nothing follows, or it has been long enough. */
  over(patienceMs: number): Promise<void>
}

/** Watches for the request of this connection; null where no more can watch. Ready when every worker knows of it. */
export async function watchOne(
  source: TraceSource,
  socket: Socket,
  told: (event: TraceEvent) => void,
): Promise<WatchedRequest | null> {
  if (source.isFull) return null
  const ended = Promise.withResolvers<void>()
  const ready = Promise.withResolvers<void>()
  const { localAddress = '', localPort = 0 } = socket
  const leave = source.watch(`source.rawPort == ${localPort} && source.rawAddress == ${JSON.stringify(localAddress)}`, {
    ready: () => ready.resolve(),
    event(event) {
      told(event)
      if (event.message.type === LAST_EVENT) ended.resolve()
    },
    end: () => ended.resolve(),
  })
  await atMost(ready.promise, READY_MS)
  return {
    async over(patienceMs) {
      await atMost(ended.promise, patienceMs)
      leave()
    },
  }
}

async function atMost(promise: Promise<void>, ms: number): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([promise, late])
  clearTimeout(timer)
}

/** Workers answer at once, but for one that is busy. */
const READY_MS = 2000
