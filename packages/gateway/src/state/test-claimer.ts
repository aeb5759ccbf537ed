import { parentPort, workerData } from 'node:worker_threads'
import { SharedTable } from './shared-table.ts'

/** Input of a thread that adds one to the first word of every key, in an order of its own. */
export interface ClaimerData {
  buffer: SharedArrayBuffer
  /** Keys are `key 0`, `key 1` and so on. */
  keys: number
  /** Odd, so that the order reaches every key when their number is a power of two. */
  step: number
  gate: Int32Array<SharedArrayBuffer>
}

const { buffer, keys, step, gate } = workerData as ClaimerData
const table = new SharedTable(buffer)
parentPort!.postMessage('ready')
Atomics.wait(gate, 0, 0)
for (let i = 0; i < keys; i++) {
  const words = table.cells(`key ${(i * step) % keys}`)!.use(0)
  Atomics.add(words, 0, 1n)
}
