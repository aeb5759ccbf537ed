import { Worker } from 'node:worker_threads'
import type { PolicyTestsJob, PolicyTestsResult } from './policy-tests-job.ts'

export type { PolicyTestsJob, PolicyTestsResult, TestedGateway } from './policy-tests-job.ts'

interface TestLimits {
  readonly ms: number
  readonly heapMb: number
  readonly signal: AbortSignal
}

/** Runs the tests of a policy in a thread of its own, within bounds of time and memory; null when the signal aborts. */
export function testPolicy(job: PolicyTestsJob, { ms, heapMb, signal }: TestLimits): Promise<PolicyTestsResult | null> {
  if (signal.aborted) return Promise.resolve(null)
  const isSource = import.meta.url.endsWith('.ts')
  const thread = new Worker(new URL(isSource ? './policy-tests-thread.ts' : './policy-tests.js', import.meta.url), {
    workerData: job,
    name: 'policy-tests',
    // The thread gets no environment variables, so that tests cannot read those of the controller.
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB },
  })
  return new Promise((resolve) => {
    const end = (result: PolicyTestsResult | null): void => {
      thread.removeAllListeners('exit')
      clearTimeout(timer)
      signal.removeEventListener('abort', leave)
      // The next run may begin when this thread has ended.
      void thread.terminate().then(() => resolve(result))
    }
    const exceed = (message: string): void => end({ kind: 'exceeded', message })
    const leave = (): void => end(null)
    const timer = setTimeout(() => exceed(`the tests took longer than ${ms / 1000} s`), ms)
    signal.addEventListener('abort', leave)
    thread.once('message', (result: PolicyTestsResult) => end(result))
    thread.once('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? exceed(`the tests need more than ${heapMb} MB`)
        : end({ kind: 'invalid', message: 'the tests cannot run with this config' }),
    )
    thread.once('exit', () => end({ kind: 'invalid', message: 'the tests ended without a result' }))
  })
}

const YOUNG_MB = 32
