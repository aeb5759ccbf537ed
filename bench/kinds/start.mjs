// The time from spawn to the first response, and the memory before any request.
import { setTimeout as delay } from 'node:timers/promises'
import { startContender } from '../contender.mjs'
import { median, notFound, residentMb, wanted } from './shared.mjs'

// Long enough for a program that cleans up after its start.
const SETTLE_MS = 3_500

export async function measureStart(scenario, bench) {
  const samples = wanted(scenario, bench).map((what) => ({
    what,
    ready: [],
    resident: [],
    row: {
      scenario: scenario.title,
      proxy: what.label,
      workers: what.workers ?? 1,
      notes: what.found ? [] : [notFound(what.peer)],
    },
  }))
  for (let round = 0; round < bench.times.rounds; round++) {
    for (const sample of samples) {
      if (sample.row.notes.length > 0) continue
      const contender = await startContender(sample.what, bench)
      if (contender.problem) {
        sample.row.notes.push(contender.problem)
        continue
      }
      sample.ready.push(contender.readyMs)
      await delay(SETTLE_MS)
      sample.resident.push(residentMb(contender))
      await contender.stop()
    }
  }
  for (const { row, ready, resident } of samples) {
    if (ready.length === 0) continue
    row.readyMs = median(ready)
    row.residentMb = median(resident)
  }
  return samples.map(({ row }) => row)
}
