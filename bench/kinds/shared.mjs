// Shared by the kinds of scenarios: starting the proxies, one measured step, and its rows.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chatRequest, PATHS } from '../chat.mjs'
import { PROXY_CORE } from '../children.mjs'
import { startContender } from '../contender.mjs'
import { CLIENTS, fixedLoad, saturatedLoad } from '../load.mjs'
import { coreBusySeconds, cpuSeconds, residentBytes } from '../measure.mjs'
import { keyPaths } from '../stored-keys.mjs'

const HELD = 0.95
const FOREIGN_SHARE = 0.1
const SATURATED_SHARE = 0.85

/**
 * One row of the table; CPU in µs per request, latencies in µs.
 * @typedef {{ scenario: string, proxy: string, cpu?: number, ratio?: number, p50?: number, p99?: number, rate?: number,
 *   saturatedCpu?: number, saturatedP99?: number, residentMb?: number, overEmptyMb?: number, readyMs?: number, workers?: number, cpuByRound?: number[],
 *   notes: string[] }} Row
 */

/** Starts every contender of a scenario; those that are missing or fail become rows with a note. */
export async function startAll(scenario, bench) {
  const contenders = []
  const rows = []
  for (const what of wanted(scenario, bench)) {
    const row = { scenario: scenario.title, proxy: what.label, workers: what.workers ?? 1, notes: [] }
    rows.push(row)
    if (!what.found) {
      row.notes.push(notFound(what.peer))
      continue
    }
    const needsCertificate = scenario.protocol === 'https' || scenario.protocol === 'h2'
    if ((needsCertificate && !bench.certificate) || (what.backend && !bench.mesh)) {
      row.notes.push('openssl not found')
      continue
    }
    const { protocol, secured, logs, kind } = scenario
    const unbuffered = kind === 'bulk' || kind === 'stream'
    const contender = await startContender({ ...what, protocol, secured, logs, unbuffered, env: bench.env }, bench)
    if (contender.problem) row.notes.push(contender.problem)
    else {
      const target = targetOf(contender, scenario, what, bench)
      contenders.push({ ...contender, row, chat: what.chat, target, takesLoad: !what.peer.always })
    }
  }
  return { contenders, rows, stop: () => Promise.all(contenders.map((contender) => contender.stop())) }
}

export function notFound({ variable }) {
  return variable ? `not found (set ${variable})` : 'not found'
}

/** The proxies of a scenario, or the variants it names. */
export function wanted(scenario, bench) {
  if (!scenario.variants)
    return bench.entries.flatMap(({ peer, found }) =>
      peer.onlyNamed && !scenario.also?.includes(peer.name) ? [] : [{ peer, found, label: peer.name }],
    )
  return scenario.variants.flatMap(({ peer: name, label, ...variant }) =>
    bench.entries
      .filter(({ peer }) => peer.name === name || (name === 'portico' && peer.name === 'before'))
      .map((entry) => ({ ...entry, ...variant, label: label.replace(/^portico/, entry.peer.name) })),
  )
}

export async function fixedStep(contender, scenario, seconds) {
  const step = await measured(contender, () => fixedLoad(contender.target, { rps: scenario.rps, seconds }))
  if (!step) return { notes: [contender.death() ?? 'fixed load did not end'] }
  const offered = CLIENTS * scenario.rps
  const notes = [...step.notes, ...noteForeign(step), ...noteHeld(step, offered)]
  return { cpu: step.cpu, p50: step.load.p50, p99: step.load.p99, notes }
}

export async function saturatedStep(contender, seconds) {
  const step = await measured(contender, () => saturatedLoad(contender.target, seconds))
  if (!step) return { notes: [contender.death() ?? 'saturating load did not end'] }
  const notes = [...step.notes]
  // Below this share, the load or the origin was the limit, so the rate says little about the proxy.
  if (step.share < SATURATED_SHARE) notes.push('rate limited by the load core')
  return { rate: step.load.rate, saturatedCpu: step.cpu, saturatedP99: step.load.p99, notes }
}

/** Marks numbers that were measured beside other work. */
export function noteForeign({ foreign }) {
  return foreign > FOREIGN_SHARE ? ['core shared with other work'] : []
}

/** A proxy that cannot keep up is measured at saturation. */
export function noteHeld({ load }, offered) {
  return load.rate < HELD * offered ? [`load not held: ${whole(load.rate)} of ${whole(offered)}/s`] : []
}

/** Medians of the numbers of all rounds, and each note once. */
export function summarize(row, steps, keys) {
  row.cpuByRound = steps.flatMap(({ cpu }) => cpu ?? [])
  for (const key of keys) {
    const values = steps.map((step) => step[key]).filter((value) => value !== undefined)
    if (values.length > 0) row[key] = median(values)
  }
  const kinds = new Set()
  for (const note of steps.flatMap((step) => step.notes)) {
    // The same problem with other numbers in another round is noted once.
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

/** The cost of a load for the proxy; null when the load failed. */
export async function measured(contender, load) {
  const before = cpuSeconds(contender.pid)
  const coreBefore = coreBusySeconds(PROXY_CORE)
  const result = await load()
  if (!result || result.requests === 0) return null
  const used = cpuSeconds(contender.pid) - before
  const foreign = coreBusySeconds(PROXY_CORE) - coreBefore - used
  const notes = result.failed > 0 ? [`${whole(result.failed)} requests failed`] : []
  const death = contender.death()
  if (death !== null) notes.push(death)
  return {
    load: result,
    cpu: (used / result.requests) * 1e6,
    share: used / result.seconds,
    foreign: foreign / result.seconds,
    notes,
  }
}

function targetOf(contender, scenario, { peer, chat }, bench) {
  const { url, protocol, dir } = contender
  const headers = {
    ...(scenario.secured && { authorization: `Bearer ${bench.identity.token}` }),
    ...(chat && { 'content-type': 'application/json' }),
    // Asks the provider, and stores its answer.
    ...(chat?.cache === 'miss' && { 'cache-control': 'no-cache' }),
    ...peer.headers?.(bench),
    ...contender.headers,
  }
  const paths = chat ? chatPaths(peer, chat) : (scenario.paths ?? ['/'])
  const target = { url, protocol, dir, headers, paths }
  const body = chat ? chatRequest(chat.client, { stream: scenario.kind === 'stream' }) : 'x'.repeat(scenario.body ?? 0)
  if (body === '') return target
  // The folder is not beside the proxy's config, because a proxy that watches its folder would wake up.
  mkdirSync(join(dir, 'load'), { recursive: true })
  const bodyFile = join(dir, 'load', 'body.txt')
  writeFileSync(bodyFile, body)
  return { ...target, body, bodyFile }
}

function chatPaths(peer, { client, stored }) {
  return stored ? keyPaths(PATHS[client], stored) : [peer.chatPath ?? PATHS[client]]
}

function whole(value) {
  return Math.round(value).toLocaleString('en')
}
