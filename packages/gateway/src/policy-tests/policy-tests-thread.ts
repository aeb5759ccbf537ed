import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import type { PolicyTestsJob } from './policy-tests-job.ts'
import { runPolicyTests } from './run-policy-tests.ts'

// Tests take CPU, so they have a thread of their own, which yields to the controller.

if (parentPort === null) throw new Error('tests of a policy run in a thread of their own')
// Linux has a priority for each thread; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(Math.min(19, getPriority() + 5))

const port = parentPort
// An error ends the thread, and the main thread reports the error.
void runPolicyTests(workerData as PolicyTestsJob).then((result) => port.postMessage(result))
