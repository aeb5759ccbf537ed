// Portico alone under the fixed load of a scenario with the CPU profiler on in every thread.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { printProfiles } from '../profile.mjs'
import { bulkStep, startBulk } from './bulk.mjs'
import { fixedStep, startAll } from './shared.mjs'
import { startStreams, streamStep } from './stream.mjs'
import { startTools, toolStep } from './tools.mjs'

const SECONDS = 5
const GRACE_MS = 15_000
const WAYS = {
  load: { start: startAll, step: fixedStep },
  bulk: { start: startBulk, step: bulkStep },
  stream: { start: startStreams, step: streamStep },
  tools: { start: startTools, step: toolStep },
}

export async function profileLoad(scenario, bench) {
  const way = WAYS[scenario.kind]
  if (way === undefined) {
    console.log(`${scenario.name} cannot be profiled: it is not a load`)
    return
  }
  const out = join(import.meta.dirname, '../.run', scenario.name)
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out, { recursive: true })
  const entries = bench.entries.filter(({ peer }) => peer.name === 'portico')
  const variants = scenario.variants?.filter(({ peer }) => peer === 'portico').slice(-1)
  const env = { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${out}` }
  const { contenders, rows, stop } = await way.start({ ...scenario, variants }, { ...bench, entries, env })
  for (const row of rows) if (row.notes.length > 0) console.log(`${row.proxy}: ${row.notes.join('; ')}`)
  for (const contender of contenders) {
    const step = await way.step(contender, scenario, Math.max(SECONDS, bench.times.seconds))
    console.log(`${scenario.title}, profiler on: ${step.cpu?.toFixed(1)} µs/req ${step.notes.join('; ')}\n`)
    // A profile is written only when its thread ends by itself.
    await contender.stop(GRACE_MS)
  }
  await stop()
  if (contenders.length > 0) printProfiles([out])
}
