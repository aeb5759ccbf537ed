import { Worker } from 'node:worker_threads'
import type { BacktestJob } from './backtest-job.ts'
import type { BacktestReport } from './report.ts'

interface RunLimits {
  /** The time after which the thread is ended, in milliseconds. */
  readonly ms: number
  /** The most heap of the thread, in MB. */
  readonly heapMb: number
}

/** Runs a back-test in a thread of its own, within bounds of time and memory; a text says why there is no report. */
export function runApart(
  job: BacktestJob,
  { limits, signal }: { limits: RunLimits; signal: AbortSignal },
): Promise<BacktestReport | string> {
  const isSource = import.meta.url.endsWith('.ts')
  const thread = new Worker(new URL(isSource ? './backtest-thread.ts' : '../backtest.js', import.meta.url), {
    workerData: job,
    name: 'backtest',
    resourceLimits: { maxOldGenerationSizeMb: limits.heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
  })
  return new Promise((resolve) => {
    const end = (result: BacktestReport | string): void => {
      thread.removeAllListeners('exit')
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
      // The next run may begin when this thread has ended.
      void thread.terminate().then(() => resolve(result))
    }
    const leave = (): void => end('the client left')
    const timer = setTimeout(() => end(`the back-test took longer than ${limits.ms / 1000} s`), limits.ms)
    signal.addEventListener('abort', leave)
    thread.once('message', (report: BacktestReport) => end(report))
    thread.once('error', (error: NodeJS.ErrnoException) =>
      end(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? `the back-test needs more than ${limits.heapMb} MB: ask for fewer records`
          : `the back-test failed: ${error.message}`,
      ),
    )
    thread.once('exit', () => end('the back-test ended without a report'))
    if (signal.aborted) leave()
  })
}

const YOUNG_MB = 32
