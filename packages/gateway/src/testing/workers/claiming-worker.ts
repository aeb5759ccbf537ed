import { parentPort, workerData } from 'node:worker_threads'
import { TraceSlots } from '../../telemetry/trace/trace-slots.ts'

/** A thread that claims every slot it can, as soon as the first word of `gate` is no longer 0. */
export interface Claiming {
  shared: SharedArrayBuffer
  slots: number
  gate: SharedArrayBuffer
  number: number
}

const { shared, slots, gate, number } = workerData as Claiming
const words = new Int32Array(gate)
const memory = new TraceSlots(shared)
Atomics.add(words, 1, 1)
Atomics.wait(words, 0, 0)
const claimed: number[] = []
for (let slot = 0; slot < slots; slot++) if (memory.claim(slot, slot + 1, number)) claimed.push(slot)
parentPort!.postMessage(claimed)
