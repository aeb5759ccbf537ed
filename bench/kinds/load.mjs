// Requests at a fixed load and at saturation; the proxies take turns, in several rounds.
import { warmUp } from '../load.mjs'
import { fixedStep, residentMb, saturatedStep, startAll, summarize } from './shared.mjs'

const AGAIN_SECONDS = 1

export async function measureLoad(scenario, bench) {
  const { seconds, saturatedSeconds, warmSeconds, rounds } = bench.times
  const { contenders, rows, stop } = await startAll(scenario, bench)
  const steps = new Map(contenders.map((contender) => [contender, []]))
  for (const contender of contenders) await warmUp(contender.target, warmSeconds)
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) {
      // The proxy has been idle while the others were measured, and has released memory.
      await warmUp(contender.target, AGAIN_SECONDS)
      steps.get(contender).push(await fixedStep(contender, scenario, seconds))
    }
    for (const contender of contenders) {
      await warmUp(contender.target, AGAIN_SECONDS)
      const step = await saturatedStep(contender, saturatedSeconds)
      steps.get(contender).push({ ...step, residentMb: residentMb(contender) })
    }
  }
  const keys = ['cpu', 'p50', 'p99', 'rate', 'saturatedCpu', 'saturatedP99', 'residentMb']
  for (const contender of contenders) summarize(contender.row, steps.get(contender), keys)
  await stop()
  return rows
}
