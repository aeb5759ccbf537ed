import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { loadFeatures } from '../compile/load-features.ts'
import { loadConfig } from '../sources/file.ts'
import { backtest } from './backtest.ts'
import type { BacktestJob } from './backtest-job.ts'
import type { BacktestReport } from './report.ts'

// A back-test takes seconds of CPU, so it has a thread of its own, which yields to the threads that serve traffic.

if (parentPort === null) throw new Error('a back-test runs in a thread of its own')
// Linux has a priority for each thread; elsewhere it would be that of the whole process.
if (process.platform === 'linux') setPriority(Math.min(19, getPriority() + 5))

const port = parentPort
// An error ends the thread, and the main thread reports the error.
void run(workerData as BacktestJob).then((report) => port.postMessage(report))

async function run({ text, place, binds, before, records, limitMs }: BacktestJob): Promise<BacktestReport> {
  const loaded = loadConfig(text, { ...place, env: process.env })
  // The main thread has loaded the same text, so only a file that changed since can have a problem.
  if (!loaded.ok) throw new Error('a file that the config names has changed: try again')
  const after = { ir: { ...loaded.ir, binds: [...binds] }, locate: loaded.locate }
  await loadFeatures(after.ir)
  return backtest({ records, before: { ir: before }, after, limitMs })
}
