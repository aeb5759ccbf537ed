import { createRequire } from 'node:module'
import { BroadcastChannel, getEnvironmentData, parentPort, workerData } from 'node:worker_threads'
import type { ToWorker, WorkerSettings } from '../../process/workers/messages.ts'
import { DEADLY, WORKER_MODULE } from './mortal-worker-config.ts'

// The worker listens to messages before this module does.
createRequire(import.meta.url)(getEnvironmentData(WORKER_MODULE) as string)

/** An order to the worker of this name, or to every worker when `name` is null. */
export interface Fate {
  name: string | null
  how: 'die' | 'throw' | 'reject' | 'fill the heap' | 'never answer' | 'be busy'
  /** The duration of `be busy`. */
  milliseconds?: number
}

const hoard: number[][] = []
parentPort?.on('message', (message: ToWorker) => {
  if (message.type === 'config' && JSON.stringify(message.config).includes(DEADLY)) process.exit(1)
})
const channel = new BroadcastChannel('portico-mortal-worker')
channel.unref()
channel.onmessage = (event) => {
  const { name, how, milliseconds = 0 } = (event as { data: Fate }).data
  if (name !== null && name !== (workerData as WorkerSettings).name) return
  switch (how) {
    case 'die':
      setImmediate(() => process.exit(1))
      return
    case 'throw':
      setImmediate(() => {
        throw new Error('told to throw')
      })
      return
    case 'reject':
      void Promise.reject(new Error('told to reject'))
      return
    case 'fill the heap':
      setInterval(() => hoard.push(Array.from({ length: 1_000_000 }, (_, at) => at + 0.5)), 1)
      return
    case 'never answer':
      channel.postMessage({ name: 'the test', how: 'never answer' } satisfies Fate)
      waitFor(Infinity)
      return
    case 'be busy':
      channel.postMessage({ name: 'the test', how: 'be busy' } satisfies Fate)
      waitFor(milliseconds)
  }
}

/** Blocks the thread, which takes no CPU from the test. */
function waitFor(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}
