import { workerData } from 'node:worker_threads'
import { Budget, type BudgetOptions } from './budget.ts'
import { SharedTable } from './shared-table.ts'

/** Input of a thread that takes from a budget as fast as it can, and counts the granted units by window. */
export interface SpenderData {
  buffer: SharedArrayBuffer
  options: Omit<BudgetOptions, 'cells'>
  shared: SpenderShared
}

export interface SpenderShared {
  /** The time, set by the test. */
  clock: Int32Array<SharedArrayBuffer>
  stop: Int32Array<SharedArrayBuffer>
  granted: Int32Array<SharedArrayBuffer>
  refused: Int32Array<SharedArrayBuffer>
}

const { buffer, options, shared } = workerData as SpenderData
const budget = new Budget({ ...options, cells: new SharedTable(buffer).cells('spent by all')! })
while (Atomics.load(shared.stop, 0) === 0) {
  const { granted, window } = budget.take(1, Atomics.load(shared.clock, 0))
  Atomics.add(granted ? shared.granted : shared.refused, window, 1)
}
