// Streams of language models, many at once, each at its own pace; CPU is per event.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { EVENTS, LAST_EVENT } from '../chat.mjs'
import { LOAD_CORE, runChild, startChild } from '../children.mjs'
import { freePort, untilAnswers } from '../ports.mjs'
import { measured, noteForeign, residentMb, startAll, summarize } from './shared.mjs'

const AGAIN_SECONDS = 1
/** Half of the smallest number of connections in the warm-up. */
const WARM_CROWD = 32
/** The streams per second that each connection is expected to finish when nothing delays the streams. */
const UNPACED = 20

export async function measureStream(scenario, bench) {
  const { seconds, warmSeconds, rounds } = bench.times
  const { contenders, rows, stop } = await startStreams(scenario, bench)
  const steps = new Map(contenders.map((contender) => [contender, []]))
  // The warm-up runs twice as many streams, because a just-in-time compiler needs many events.
  const warm = { ...scenario, crowd: 2 * Math.max(scenario.crowd, WARM_CROWD), perSecond: undefined }
  for (const contender of contenders) await runStreams(contender, warm, warmSeconds)
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) {
      // The proxy has been idle while the others were measured, and has released memory.
      await runStreams(contender, scenario, AGAIN_SECONDS)
      const step = await streamStep(contender, scenario, seconds)
      steps.get(contender).push({ ...step, residentMb: residentMb(contender) })
    }
  }
  for (const contender of contenders) summarize(contender.row, steps.get(contender), ['cpu', 'residentMb'])
  await stop()
  return rows
}

/** Starts every contender of the scenario with an origin of streams. */
export async function startStreams(scenario, bench) {
  const port = await freePort()
  const log = join(bench.dir, 'origin-stream.log')
  const args = [join(import.meta.dirname, '../origins/stream.mjs'), String(port), String(scenario.paceMs)]
  const origin = startChild({ command: process.execPath, args, core: LOAD_CORE, log })
  const problem = await untilAnswers(`http://127.0.0.1:${port}/`, origin)
  if (problem) throw new Error(`the origin of streams did not start: ${problem}`)
  const started = await startAll(scenario, { ...bench, origin: port })
  return { ...started, stop: () => Promise.all([started.stop(), origin.stop()]) }
}

export async function streamStep(contender, scenario, seconds) {
  const step = await measured(contender, () => runStreams(contender, scenario, seconds))
  if (!step) return { notes: ['streams did not end'] }
  return { cpu: step.cpu, notes: [...step.notes, ...noteForeign(step)] }
}

async function runStreams({ target, dir, chat }, { crowd, paceMs, perSecond }, seconds) {
  const betweenSeconds = perSecond === undefined ? 0 : crowd / perSecond
  const streamSeconds = Math.max((EVENTS * paceMs) / 1000, betweenSeconds, 1 / UNPACED)
  const each = Math.max(1, Math.round(seconds / streamSeconds))
  const file = join(dir, 'load', 'stream.json')
  writeFileSync(file, JSON.stringify({ request: requestText(target), last: LAST_EVENT[chat.client] }))
  const args = [join(import.meta.dirname, '../streams.mjs'), target.url, file]
  args.push(String(crowd), String(each), String(betweenSeconds * 1000))
  const limitMs = each * streamSeconds * 4000 + 60_000
  const { stdout, timedOut } = await runChild(process.execPath, args, limitMs)
  if (timedOut || stdout === '') return null
  const { whole, broken, seconds: took } = JSON.parse(stdout)
  return { requests: whole * EVENTS, seconds: took, rate: (whole * EVENTS) / took, failed: broken }
}

function requestText({ url, paths, headers, body }) {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const length = `content-length: ${Buffer.byteLength(body)}\r\n`
  return `POST ${paths[0]} HTTP/1.1\r\nhost: ${new URL(url).host}\r\n${lines.join('')}${length}\r\n${body}`
}
