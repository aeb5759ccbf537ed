import { Worker } from 'node:worker_threads'
import type { VerifyJob, VerifyResult } from './verify-job.ts'

/**
 * Verifies a config in a thread of its own, within bounds of time and memory; returns the reason as a string when the
 * thread has no result.
 */
export function runVerification(job: VerifyJob, limitMs: number): Promise<VerifyResult | string> {
  const isSource = import.meta.url.endsWith('.ts')
  const thread = new Worker(new URL(isSource ? './verify-thread.ts' : '../verify.js', import.meta.url), {
    workerData: job,
    name: 'verify',
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: 32 },
  })
  return new Promise((resolve) => {
    const end = (result: VerifyResult | string): void => {
      thread.removeAllListeners('exit')
      clearTimeout(timer)
      void thread.terminate().then(() => resolve(result))
    }
    const timer = setTimeout(() => end(`it took longer than ${limitMs / 1000} s`), limitMs)
    thread.once('message', (result: VerifyResult) => end(result))
    thread.once('error', (error: NodeJS.ErrnoException) =>
      end(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? `it needs more than ${HEAP_MB} MB` : error.message),
    )
    thread.once('exit', () => end('it ended without a result'))
  })
}

const HEAP_MB = 512
