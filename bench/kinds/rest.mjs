// The memory of a proxy some time after a saturating load, and the cost of the next load compared with the one before.
import { setTimeout as delay } from 'node:timers/promises'
import { warmUp } from '../load.mjs'
import { fixedStep, residentMb, startAll } from './shared.mjs'

// Time for tasks that run after the start.
const SETTLE_MS = 3_500
const LOAD_SECONDS = 8
const REST_MS = 10_000

export async function measureRest(scenario, bench) {
  const { contenders, rows, stop } = await startAll(scenario, bench)
  await delay(SETTLE_MS)
  for (const contender of contenders) {
    if (contender.takesLoad) await measureOne(contender, scenario, bench.times.seconds)
    else contender.row.residentMb = residentMb(contender)
  }
  await stop()
  return rows
}

async function measureOne(contender, scenario, seconds) {
  const { row, target } = contender
  await warmUp(target, LOAD_SECONDS)
  const before = await fixedStep(contender, scenario, seconds)
  row.notes.push(`${Math.round(residentMb(contender))} MB at the end of the load`)
  await delay(REST_MS)
  row.residentMb = residentMb(contender)
  const after = await fixedStep(contender, scenario, seconds)
  row.cpu = after.cpu
  row.againstBefore = after.cpu / before.cpu
  row.notes.push(`CPU ${row.againstBefore.toFixed(2)}x of that before the rest`, ...before.notes, ...after.notes)
}
