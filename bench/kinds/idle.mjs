// A plain GET while many idle keep-alive connections are open: each proxy holds its own crowd during all rounds.
import { gatherCrowd } from './gather.mjs'
import { warmUp } from '../load.mjs'
import { fixedStep, residentMb, startAll, summarize } from './shared.mjs'

export async function measureIdle(scenario, bench) {
  const { seconds, warmSeconds, rounds } = bench.times
  const { contenders, rows, stop } = await startAll(scenario, bench)
  const steps = new Map(contenders.map((contender) => [contender, []]))
  const crowds = []
  for (const contender of contenders) {
    await warmUp(contender.target, warmSeconds)
    crowds.push(await gatherCrowd({ mode: 'idle', contender, count: scenario.crowd, path: '/' }))
  }
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) {
      const step = await fixedStep(contender, scenario, seconds)
      steps.get(contender).push({ ...step, residentMb: residentMb(contender) })
    }
  }
  for (const [index, contender] of contenders.entries()) {
    const open = await crowds[index].countOpen()
    if (open < scenario.crowd) contender.row.notes.push(`only ${open} of ${scenario.crowd} stayed open`)
    summarize(contender.row, steps.get(contender), ['cpu', 'p50', 'p99', 'residentMb'])
    await crowds[index].stop()
  }
  await stop()
  return rows
}
