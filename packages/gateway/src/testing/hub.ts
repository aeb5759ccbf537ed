import { createProcessCalls, HubClient } from '../mcp/hub/hub-client.ts'
import { MainHub } from '../mcp/hub/main-hub.ts'
import type { Logger } from '../telemetry/log/logger.ts'

await createProcessCalls.load()

export interface TestHub {
  main: MainHub
  /** What one worker has; all of them in this thread. */
  workers: HubClient[]
}

/** Main thread and workers of a hub in one thread; what they say to each other is cloned as between threads. */
export function startHub(log: Logger, workers = 1): TestHub {
  const main = new MainHub({ log, clock: Date.now })
  return { main, workers: Array.from({ length: workers }, (_, number) => addWorker(main, number)) }
}

export function addWorker(main: MainHub, number: number): HubClient {
  const client = new HubClient({
    post: (message) => later(message, (copy) => main.received(number, copy)),
    clock: Date.now,
  })
  main.born(number, (message) => later(message, (copy) => client.take(copy)))
  return client
}

function later<M>(message: M, take: (message: M) => void): void {
  const copy = structuredClone(message)
  queueMicrotask(() => take(copy))
}
