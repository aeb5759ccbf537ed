import { parentPort, workerData } from 'node:worker_threads'
import { KeyedBudgets } from './keyed-budgets.ts'

/** Input of a thread that in each round takes from new keys until they refuse, concurrently with the other threads. */
export interface KeySpenderData {
  buffer: SharedArrayBuffer
  amount: number
  rounds: number
  keys: number
  threads: number
  /** Granted units by round and key. */
  granted: Int32Array<SharedArrayBuffer>
  /** Number of threads that have finished a round, by round; the last word counts refusals for lack of room. */
  ended: Int32Array<SharedArrayBuffer>
}

const { buffer, amount, rounds, keys, threads, granted, ended } = workerData as KeySpenderData
const budgets = new KeyedBudgets(buffer, { amount, burst: 0, windowMs: 1000 })
const whenFull = { isOpen: false, tell: () => void Atomics.add(ended, rounds, 1) }

for (let round = 0; round < rounds; round++) {
  // All budgets of the previous round are full again.
  const now = round * 2000
  for (let index = 0; index < keys; index++) {
    const budget = budgets.of(`${round} ${index}`, whenFull)
    while (budget.take(1, now).granted) Atomics.add(granted, round * keys + index, 1)
  }
  if (Atomics.add(ended, round, 1) + 1 === threads) Atomics.notify(ended, round)
  for (let seen = Atomics.load(ended, round); seen < threads; seen = Atomics.load(ended, round)) {
    Atomics.wait(ended, round, seen, 100)
  }
}
parentPort!.postMessage('done')
