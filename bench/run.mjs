// The side-by-side benchmark: Portico and every installed peer, in one run, in one table.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { makeCertificate } from './certificate.mjs'
import { pinSelf } from './children.mjs'
import { measureBulk } from './kinds/bulk.mjs'
import { measureCel } from './kinds/cel.mjs'
import { commandNames, measureCommands } from './kinds/commands.mjs'
import { measureIdle } from './kinds/idle.mjs'
import { measureLoad } from './kinds/load.mjs'
import { profileLoad } from './kinds/profile.mjs'
import { measureReload } from './kinds/reload.mjs'
import { measureRest } from './kinds/rest.mjs'
import { measureSlow } from './kinds/slow.mjs'
import { measureStart } from './kinds/start.mjs'
import { measureStream } from './kinds/stream.mjs'
import { measureTools } from './kinds/tools.mjs'
import { describeMachine, machineTools } from './machine.mjs'
import { readOptions, USAGE } from './options.mjs'
import { startMesh, startOrigin, startServices } from './origins/origin.mjs'
import { peers } from './peers/index.mjs'
import { keepResult } from './results.mjs'
import { groups, scenarios } from './scenarios.mjs'
import { makeToken } from './token.mjs'
import { addRatios, renderBars, renderTable } from './table.mjs'

const measureByKind = {
  load: measureLoad,
  bulk: measureBulk,
  idle: measureIdle,
  rest: measureRest,
  reload: measureReload,
  slow: measureSlow,
  start: measureStart,
  stream: measureStream,
  tools: measureTools,
}

// The benchmarks that need neither peers nor a load: the expression language and the commands.
const ALONE = ['cel', ...commandNames]

const options = readOptions(process.argv.slice(2), {
  scenarios: [...scenarios.map(({ name }) => name), ...ALONE],
  groups,
  peers: peers.map(({ name }) => name),
})
if (options.help || options.problem) {
  console.log(options.problem ? `${options.problem}\n\n${USAGE}` : USAGE)
  process.exit(options.problem ? 2 : 0)
}
if (options.only.includes('cel') && !options.profile)
  console.log(`${measureCel({ rounds: options.quick ? 10 : 40 })}\n`)
const commands = options.profile ? [] : commandNames.filter((name) => options.only.includes(name))
if (commands.length > 0) await compareCommands()
options.only = options.only.filter((name) => !ALONE.includes(name))
if (options.only.length === 0) process.exit(0)
if (!machineTools().h2load) {
  console.log('h2load not found: it makes the fixed load (Debian: nghttp2-client)')
  process.exit(1)
}

const offered = scenarios.map((scenario) => withVariants(scenario, options.variant))
const chosen = offered.filter(({ name }) => options.only.includes(name))
const dir = mkdtempSync(join(tmpdir(), 'portico-bench-'))
process.on('exit', () => rmSync(dir, { recursive: true, force: true }))
pinSelf()

const origin = await startOrigin(dir)
const services = chosen.some(({ variants = [] }) => variants.some(({ extension }) => extension))
  ? await startServices(dir)
  : null
const mesh = chosen.some(({ variants = [] }) => variants.some(({ backend }) => backend))
  ? await startMesh(dir, origin.port)
  : null
const bench = {
  dir,
  mesh,
  origin: origin.port,
  services: services?.port ?? null,
  certificate: makeCertificate(dir),
  identity: makeToken(),
  times: options.times,
  entries: peers
    .filter(({ name, onlyNamed, always }) => (always || options.peers.includes(name)) && (!onlyNamed || isNamed(name)))
    .map((peer) => ({ peer, found: peer.find(options) })),
}

if (options.profile) {
  await profileLoad(
    offered.find(({ name }) => name === options.profile),
    bench,
  )
} else {
  await compare()
}
await Promise.all([origin.stop(), services?.stop(), mesh?.stop()])
process.exit(0)

function withVariants(scenario, text) {
  if (!scenario.variants || text === undefined) return scenario
  return {
    ...scenario,
    variants: scenario.variants.filter(
      ({ peer, label }) => peer === 'empty' || text.split(',').some((part) => label.includes(part)),
    ),
  }
}

function isNamed(peer) {
  return chosen.some(
    ({ variants = [], also = [] }) => also.includes(peer) || variants.some((variant) => variant.peer === peer),
  )
}

async function compareCommands() {
  const text = await measureCommands(commands, { rounds: options.quick ? 1 : 5 })
  console.log(`${text}\n`)
  if (options.write) keep(commands, `Machine: ${describeMachine().machine}.\n\n${text}`)
}

async function compare() {
  const begun = Date.now()
  const head = describeRun()
  console.log(`${head}\n`)
  const rows = []
  for (const scenario of chosen) {
    process.stderr.write(`  ${scenario.title} ...\n`)
    rows.push(...(await measureByKind[scenario.kind](scenario, bench)))
  }
  const table = renderTable(addRatios(rows))
  const bars = renderBars(chosen, rows).join('\n')
  const took = `Took ${Math.round((Date.now() - begun) / 1000)} s.`
  console.log(`${table}\n\n${bars}\n\n${took}`)
  if (!options.write) return
  const { quick, only, peers: named, variant } = options
  const which = [
    quick && 'quick',
    only.length < scenarios.length && only.join(','),
    named.length < peers.length && named.join(','),
    variant,
  ]
  keep(which.filter(Boolean), `${head}\n\n${table}\n\n${bars}`)
}

function keep(which, body) {
  const date = new Date().toISOString().slice(0, 10)
  const heading = [date, describeMachine().machine, ...which].join(' · ')
  keepResult(join(import.meta.dirname, 'RESULTS.md'), { heading, body })
}

function describeRun() {
  const { machine, pinning, load } = describeMachine()
  const { seconds, saturatedSeconds, rounds } = bench.times
  const versions = bench.entries.map(({ peer, found }) => `${peer.name} ${found?.version ?? 'not found'}`)
  return [
    `Machine: ${machine}; ${pinning}.`,
    `Proxies, one worker each: ${versions.join(', ')}.`,
    `Load: ${load}; origin ${origin.kind}; ${rounds} rounds of ${seconds} s fixed and ${saturatedSeconds} s saturated, medians.`,
  ].join('\n')
}
