import type { SimulationJob } from '../../simulation-thread/jobs.ts'
import { runApart, type RunResult } from '../../simulation-thread/run-apart.ts'

/** Runs simulations for the admin API, one at a time. */
export class SimulationRunner {
  #isRunning = false

  /**
   * Runs the job that `prepare` returns. Returns null when another simulation is running, and `instead` when `prepare`
   * has no job.
   */
  async run<Job extends SimulationJob, Other>(
    prepare: () => Promise<Job | { readonly instead: Other }>,
    signal: AbortSignal,
  ): Promise<RunResult<Job> | { readonly instead: Other } | null> {
    if (this.#isRunning) return null
    this.#isRunning = true
    try {
      const job = await prepare()
      return 'instead' in job ? job : await runApart(job, { limits: { ms: END_MS, heapMb: HEAP_MB }, signal })
    } finally {
      this.#isRunning = false
    }
  }
}

/** The longest time that a simulation thread may run, in milliseconds. */
const END_MS = 60_000
const HEAP_MB = 512
