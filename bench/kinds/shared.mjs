// What the kinds of scenarios have in common: starting the proxies, one measured step, and the rows they give.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PROXY_CORE } from '../children.mjs'
import { startContender } from '../contender.mjs'
import { CLIENTS, fixedLoad, saturatedLoad } from '../load.mjs'
import { coreBusySeconds, cpuSeconds, residentBytes } from '../measure.mjs'

const HELD = 0.95
const FOREIGN_SHARE = 0.1
const SATURATED_SHARE = 0.85

/**
 * One row of the table; CPU in µs per request, latencies in µs.
 * @typedef {{ scenario: string, proxy: string, cpu?: number, ratio?: number, p50?: number, p99?: number, rate?: number,
 *   saturatedCpu?: number, saturatedP99?: number, residentMb?: number, readyMs?: number, notes: string[] }} Row
 */

/** Starts every contender of a scenario; the missing and the failed become rows that say so. */
export async function startAll(scenario, bench) {
  const contenders = []
  const rows = []
  for (const what of wanted(scenario, bench)) {
    const row = { scenario: scenario.title, proxy: what.label, notes: [] }
    rows.push(row)
    if (!what.found) {
      row.notes.push('not found')
      continue
    }
    if (scenario.protocol === 'https' && !bench.certificate) {
      row.notes.push('openssl not found')
      continue
    }
    const { protocol, secured } = scenario
    const contender = await startContender({ ...what, protocol, secured, env: bench.env }, bench)
    if (contender.problem) row.notes.push(contender.problem)
    else contenders.push({ ...contender, row, target: targetOf(contender, scenario, bench) })
  }
  return { contenders, rows, stop: () => Promise.all(contenders.map((contender) => contender.stop())) }
}

/** The proxies of a scenario, or the variants it names. */
export function wanted(scenario, bench) {
  if (!scenario.variants) return bench.entries.map(({ peer, found }) => ({ peer, found, label: peer.name }))
  return scenario.variants.flatMap(({ peer: name, label, routes }) => {
    const entry = bench.entries.find(({ peer }) => peer.name === name)
    return entry ? [{ ...entry, label, routes }] : []
  })
}

export async function fixedStep(contender, scenario, seconds) {
  const step = await measured(contender, () => fixedLoad(contender.target, { rps: scenario.rps, seconds }))
  if (!step) return { notes: ['fixed load did not end'] }
  const offered = CLIENTS * scenario.rps
  const notes = [...step.notes]
  if (step.load.rate < HELD * offered) notes.push(`load not held: ${whole(step.load.rate)} of ${whole(offered)}/s`)
  if (step.foreign > FOREIGN_SHARE) notes.push('core shared with other work')
  return { cpu: step.cpu, p50: step.load.p50, p99: step.load.p99, notes }
}

export async function saturatedStep(contender, seconds) {
  const step = await measured(contender, () => saturatedLoad(contender.target, seconds))
  if (!step) return { notes: ['saturating load did not end'] }
  const notes = [...step.notes]
  // Below this the load or the origin was the limit, and the rate says little about the proxy.
  if (step.share < SATURATED_SHARE) notes.push('rate limited by the load core')
  return { rate: step.load.rate, saturatedCpu: step.cpu, saturatedP99: step.load.p99, notes }
}

/** Medians of the numbers of all rounds, and each note once. */
export function summarize(row, steps, keys) {
  for (const key of keys) {
    const values = steps.map((step) => step[key]).filter((value) => value !== undefined)
    if (values.length > 0) row[key] = median(values)
  }
  const kinds = new Set()
  for (const note of steps.flatMap((step) => step.notes)) {
    // The same trouble with other numbers in another round is one trouble.
    const kind = note.replace(/[\d.,]+/g, '')
    if (!kinds.has(kind)) row.notes.push(note)
    kinds.add(kind)
  }
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}

export function residentMb(contender) {
  return residentBytes(contender.pid) / 2 ** 20
}

async function measured(contender, load) {
  const before = cpuSeconds(contender.pid)
  const coreBefore = coreBusySeconds(PROXY_CORE)
  const result = await load()
  if (!result || result.requests === 0) return null
  const used = cpuSeconds(contender.pid) - before
  const foreign = coreBusySeconds(PROXY_CORE) - coreBefore - used
  const notes = result.failed > 0 ? [`${whole(result.failed)} requests failed`] : []
  if (contender.hasEnded()) notes.push('the proxy died')
  return {
    load: result,
    cpu: (used / result.requests) * 1e6,
    share: used / result.seconds,
    foreign: foreign / result.seconds,
    notes,
  }
}

function targetOf(contender, scenario, bench) {
  const { url, protocol, dir } = contender
  const headers = scenario.secured ? { authorization: `Bearer ${bench.identity.token}` } : {}
  const target = { url, protocol, dir, headers, paths: scenario.paths ?? ['/'] }
  if (!scenario.body) return target
  const bodyFile = join(dir, 'body.txt')
  writeFileSync(bodyFile, 'x'.repeat(scenario.body))
  return { ...target, bodyFile }
}

function whole(value) {
  return Math.round(value).toLocaleString('en')
}
