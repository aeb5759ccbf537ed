import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { verify } from './verify.ts'
import type { VerifyJob } from './verify-job.ts'

// Tests and back-tests take CPU, so they have a thread of their own, which yields to the threads that serve traffic.

if (parentPort === null) throw new Error('a verification runs in a thread of its own')
// Linux sets the priority of this thread only; other systems would set the priority of the whole process.
if (process.platform === 'linux') setPriority(Math.min(19, getPriority() + 5))

const port = parentPort
// An error ends the thread, and the main thread reports the error.
void verify(workerData as VerifyJob).then((result) => port.postMessage(result))
