import { parentPort, threadId, workerData } from 'node:worker_threads'
import { reportFault } from '@portico/http/faults'
import { releaseMemoryWhenIdle } from './idle-memory.ts'
import type { ToWorker, WorkerSettings } from './messages.ts'
import { TrafficWorker } from './traffic-worker.ts'

if (parentPort === null) throw new Error('a worker runs in a thread of its own')
const port = parentPort

const worker = new TrafficWorker(workerData as WorkerSettings, {
  post: (message) => port.postMessage(message),
  ended: () => process.exit(0),
})
// A thread that ended here would take every connection with it. The error belongs to no known request, so the supervisor
// starts another worker, and then lets this one finish its open requests.
process.on('uncaughtException', (error: unknown) => reportFault(error, 'worker'))
process.on('unhandledRejection', (error: unknown) => reportFault(error, 'worker'))
port.on('message', (message: ToWorker) => worker.receive(message))
releaseMemoryWhenIdle(threadId)
