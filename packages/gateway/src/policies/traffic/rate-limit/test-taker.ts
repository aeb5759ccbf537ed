import { parentPort, workerData } from 'node:worker_threads'
import { Budget } from '../../../state/budget.ts'
import { SharedTable } from '../../../state/shared-table.ts'
import { type Limit, takeFromAll } from './take-from-all.ts'

/** A thread that takes from several limits until they refuse, and then tells how often it passed. */
export interface TakerData {
  buffer: SharedArrayBuffer
  amounts: readonly number[]
  gate: Int32Array<SharedArrayBuffer>
}

const { buffer, amounts, gate } = workerData as TakerData
const table = new SharedTable(buffer)
const made = amounts.map((amount, index): Limit => {
  const cells = table.cells(`limit ${index}`)!
  return { name: `limit ${index}`, counts: 'requests', budget: new Budget({ cells, amount, burst: 0, windowMs: 1000 }) }
})
const limits: [Limit, ...Limit[]] = [made[0]!, ...made.slice(1)]
parentPort!.postMessage('ready')
Atomics.wait(gate, 0, 0)
let passed = 0
for (let refused = 0; refused < 1000;) {
  if (takeFromAll(limits, 0).standing.granted) passed++
  else refused++
}
parentPort!.postMessage(passed)
