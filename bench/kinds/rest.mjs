// Memory that a proxy still has some time after a saturating load.
import { setTimeout as delay } from 'node:timers/promises'
import { warmUp } from '../load.mjs'
import { residentMb, startAll } from './shared.mjs'

const LOAD_SECONDS = 8
const REST_MS = 10_000

export async function measureRest(scenario, bench) {
  const { contenders, rows, stop } = await startAll(scenario, bench)
  const rests = []
  for (const contender of contenders) {
    if (contender.takesLoad) {
      await warmUp(contender.target, LOAD_SECONDS)
      contender.row.notes.push(`${Math.round(residentMb(contender))} MB at the end of the load`)
    }
    rests.push(delay(REST_MS).then(() => (contender.row.residentMb = residentMb(contender))))
  }
  await Promise.all(rests)
  await stop()
  return rows
}
