// Large bodies, one at a time on one connection; CPU and time are per body.
import { join } from 'node:path'
import { LOAD_CORE, startChild } from '../children.mjs'
import { bulkLoad } from '../load.mjs'
import { freePort, untilAnswers } from '../ports.mjs'
import { BULK_BYTES } from '../scenarios.mjs'
import { measured, noteForeign, residentMb, startAll, summarize } from './shared.mjs'

const WARM = 10
const EACH_ROUND = 4

export async function measureBulk(scenario, bench) {
  const { contenders, rows, stop } = await startBulk(scenario, bench)
  const steps = new Map(contenders.map((contender) => [contender, []]))
  for (const contender of contenders) await bulkLoad(contender.target, WARM)
  for (let round = 0; round < bench.times.rounds; round++) {
    for (const contender of contenders) steps.get(contender).push(await bulkStep(contender))
  }
  for (const contender of contenders) summarize(contender.row, steps.get(contender), ['cpu', 'p50', 'residentMb'])
  await stop()
  return rows
}

/** Starts every contender of the scenario with an origin of large bodies. */
export async function startBulk(scenario, bench) {
  const port = await freePort()
  const log = join(bench.dir, 'origin-bulk.log')
  const args = [join(import.meta.dirname, '../origins/bulk.mjs'), String(port), String(BULK_BYTES)]
  const origin = startChild({ command: process.execPath, args, core: LOAD_CORE, log })
  const problem = await untilAnswers(`http://127.0.0.1:${port}/`, origin)
  if (problem) throw new Error(`the origin of large bodies did not start: ${problem}`)
  const started = await startAll(scenario, { ...bench, origin: port })
  return { ...started, stop: () => Promise.all([started.stop(), origin.stop()]) }
}

export async function bulkStep(contender) {
  const step = await measured(contender, () => bulkLoad(contender.target, EACH_ROUND))
  if (!step) return { notes: ['transfers did not end'] }
  const notes = [...step.notes, ...noteForeign(step)]
  return { cpu: step.cpu, p50: step.load.p50, residentMb: residentMb(contender), notes }
}
