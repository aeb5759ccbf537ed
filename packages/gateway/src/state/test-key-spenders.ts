import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { Worker } from 'node:worker_threads'
import { createKeyedTable } from './keyed-budgets.ts'
import type { KeySpenderData } from './test-key-spender.ts'

/** Spends budgets of 7 for new keys in every round, in a table of one group; returns which totals were granted. */
export async function spendInThreads(
  t: TestContext,
  { rounds, keys, threads }: { rounds: number; keys: number; threads: number },
): Promise<{ granted: Set<number>; withoutRoom: number }> {
  const numbers = (length: number) => new Int32Array(new SharedArrayBuffer(4 * length))
  const buffer = createKeyedTable(1)
  const granted = numbers(rounds * keys)
  const ended = numbers(rounds + 1)
  const data: KeySpenderData = { buffer, amount: 7, rounds, keys, threads, granted, ended }
  const workers = Array.from(
    { length: threads },
    () => new Worker(new URL('./test-key-spender.ts', import.meta.url), { workerData: data }),
  )
  t.after(() => Promise.all(workers.map((worker) => worker.terminate())))
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  return { granted: new Set(granted), withoutRoom: Atomics.load(ended, rounds) }
}
