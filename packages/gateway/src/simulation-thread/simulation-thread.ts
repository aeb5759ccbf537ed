import { getPriority, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { backtest } from '../backtest/backtest.ts'
import type { BacktestReport } from '../backtest/report.ts'
import { makeCapsule } from '../capsule/make-capsule.ts'
import { loadFeatures } from '../compile/load-features.ts'
import { loadConfig } from '../sources/file.ts'
import type { BacktestJob, JobResults, SimulationJob } from './jobs.ts'

// A simulation takes seconds of CPU, so it has a thread of its own, which yields to the threads that serve traffic.

if (parentPort === null) throw new Error('a simulation runs in a thread of its own')
// Linux sets the priority of this thread only; other systems would set the priority of the whole process.
if (process.platform === 'linux') setPriority(Math.min(19, getPriority() + 5))

const port = parentPort
// An error ends the thread, and the main thread reports the error.
void run(workerData as SimulationJob).then((result) => port.postMessage(result))

function run(job: SimulationJob): Promise<JobResults[SimulationJob['kind']]> {
  return job.kind === 'backtest' ? runBacktest(job) : makeCapsule(job)
}

async function runBacktest({ text, place, binds, before, records, limitMs }: BacktestJob): Promise<BacktestReport> {
  const loaded = loadConfig(text, { ...place, env: process.env })
  // The main thread has loaded the same config, so loading fails only when a referenced file has changed since.
  if (!loaded.ok) throw new Error('a file that the config names has changed: try again')
  const after = { ir: { ...loaded.ir, binds: [...binds] }, locate: loaded.locate }
  await loadFeatures(after.ir)
  return backtest({ records, before: { ir: before }, after, limitMs })
}
