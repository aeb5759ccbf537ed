import { Worker } from 'node:worker_threads'
import type { JobResults, SimulationJob } from './jobs.ts'

interface RunLimits {
  /** The longest time that the thread may run, in milliseconds. */
  readonly ms: number
  /** The largest heap of the thread, in MB. */
  readonly heapMb: number
}

export type RunResult<Job extends SimulationJob> =
  | { readonly ok: true; readonly value: JobResults[Job['kind']] }
  | { readonly ok: false; readonly problem: string }

/** Runs a simulation in a thread of its own, within bounds of time and memory. */
export function runApart<Job extends SimulationJob>(
  job: Job,
  { limits, signal }: { limits: RunLimits; signal: AbortSignal },
): Promise<RunResult<Job>> {
  const isSource = import.meta.url.endsWith('.ts')
  const thread = new Worker(new URL(isSource ? './simulation-thread.ts' : '../simulation.js', import.meta.url), {
    workerData: job,
    name: 'simulation',
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
  })
  return new Promise((resolve) => {
    const end = (result: RunResult<Job>): void => {
      thread.removeAllListeners('exit')
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
      // The result waits for the end of the thread, so that two simulations never run at once.
      void thread.terminate().then(() => resolve(result))
    }
    const fail = (problem: string): void => end({ ok: false, problem })
    const leave = (): void => fail('the client left')
    const timer = setTimeout(() => fail(`the simulation took longer than ${limits.ms / 1000} s`), limits.ms)
    signal.addEventListener('abort', leave)
    thread.once('message', (value: JobResults[Job['kind']]) => end({ ok: true, value }))
    thread.once('error', (error: NodeJS.ErrnoException) =>
      fail(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? `the simulation needs more than ${limits.heapMb} MB: ask for fewer records`
          : `the simulation failed: ${error.message}`,
      ),
    )
    thread.once('exit', () => fail('the simulation ended without a result'))
    if (signal.aborted) leave()
  })
}

const YOUNG_MB = 32
