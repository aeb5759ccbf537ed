// Many clients that read a large reply slowly, one proxy at a time: memory must not grow with the unread part.
import { gatherCrowd } from './gather.mjs'
import { warmUp } from '../load.mjs'
import { fixedStep, residentMb, startAll, summarize } from './shared.mjs'

// The kernel buffers 4 MB of a reply, so a smaller one would never wait inside the proxy.
const REPLY_MB = 16
const REPLY_PATH = '/16m.bin'

export async function measureSlow(scenario, bench) {
  const { seconds, warmSeconds } = bench.times
  const { contenders, rows, stop } = await startAll(scenario, bench)
  for (const contender of contenders) {
    await warmUp(contender.target, warmSeconds)
    const before = residentMb(contender)
    let peak = before
    const sampling = setInterval(() => (peak = Math.max(peak, residentMb(contender))), 100)
    const crowd = await gatherCrowd({ mode: 'slow', contender, count: scenario.crowd, path: REPLY_PATH })
    const step = await fixedStep(contender, scenario, Math.max(2, seconds))
    clearInterval(sampling)
    const open = await crowd.countOpen()
    // The crowd itself costs the proxy CPU, so the cost of a request is not reported here.
    summarize(contender.row, [step], ['p50', 'p99'])
    contender.row.residentMb = peak
    const perReader = ((peak - before) * 1024) / scenario.crowd
    contender.row.notes.push(`+${Math.round(perReader)} KiB a reader`)
    if (peak - before > (REPLY_MB * scenario.crowd) / 2) contender.row.notes.push('buffers whole replies')
    if (open < scenario.crowd) contender.row.notes.push(`only ${open} of ${scenario.crowd} still reading`)
    await crowd.stop()
  }
  await stop()
  return rows
}
