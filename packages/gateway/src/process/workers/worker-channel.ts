import { type ResourceLimits, Worker } from 'node:worker_threads'
import type { FromWorker, ToWorker, WorkerSettings } from './messages.ts'

/** The main thread's channel to a worker. */
export interface WorkerChannel {
  post(message: ToWorker): void
  /** Ends the worker at once, without a flush. */
  terminate(): void
  /**
   * Whether the worker runs in its own thread, which can be replaced. A worker in the main thread reads the objects of
   * that thread.
   */
  readonly isThread: boolean
}

interface WorkerListener {
  received(message: FromWorker): void
  /** Called when the worker has ended; `cause` is the error that ended the worker, or null. */
  exited(cause: Error | null): void
}

/** Starts a worker and returns the channel to it. */
export type StartWorker = (settings: WorkerSettings, listener: WorkerListener) => WorkerChannel

/** Returns the function that starts a worker as a thread with the module `entry`. */
export function workerThreads(entry: URL, resourceLimits?: ResourceLimits): StartWorker {
  return (settings, listener) => {
    const thread = new Worker(entry, {
      workerData: settings,
      name: settings.name,
      ...(resourceLimits !== undefined && { resourceLimits }),
    })
    let cause: Error | null = null
    thread.on('message', (message: FromWorker) => listener.received(message))
    thread.on('error', (error: unknown) => {
      cause = errorOf(error)
    })
    thread.on('exit', () => listener.exited(cause))
    return {
      isThread: true,
      post: (message) => thread.postMessage(message),
      terminate: () => void thread.terminate(),
    }
  }
}

/**
 * Runs the only worker in the calling thread. As between threads, messages arrive in order and after `post` has
 * returned; their objects are not copied.
 */
export const workerInThisThread: StartWorker = (settings, listener) => {
  const early: ToWorker[] = []
  let receive = (message: ToWorker): void => void early.push(message)
  let hasEnded = false
  const end = (cause: Error | null): void => {
    if (hasEnded) return
    hasEnded = true
    listener.exited(cause)
  }
  import('./traffic-worker.ts').then(
    ({ TrafficWorker }) => {
      const worker = new TrafficWorker(settings, {
        post: (message) => void setImmediate((each: FromWorker) => listener.received(each), message),
        ended: () => void setImmediate(end, null),
      })
      receive = (message) => void setImmediate((each: ToWorker) => worker.receive(each), message)
      early.splice(0).forEach(receive)
    },
    (error: unknown) => end(errorOf(error)),
  )
  return {
    isThread: false,
    post: (message) => receive(message),
    terminate: () => end(null),
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
