import { createProcessCalls, HubClient } from '../mcp/hub/hub-client.ts'
import { MainHub } from '../mcp/hub/main-hub.ts'
import type { Logger } from '../telemetry/log/logger.ts'

await createProcessCalls.load()

interface TestHub {
  main: MainHub
  /** The hub client of each worker; all of them run in this thread. */
  workers: HubClient[]
}

/** Runs the main thread and the workers of a hub in one thread. Their messages are cloned, as between threads. */
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
