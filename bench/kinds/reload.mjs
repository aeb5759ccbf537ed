// The time from a changed file to the first response that shows it, under load, and the memory after many changes.
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { startContender } from '../contender.mjs'
import { median, residentMb, wanted } from './shared.mjs'

const CHANGES = 40
// A thread releases memory after five to eight idle seconds.
const SETTLE_MS = 10_000
const LONGEST_MS = 20_000
const CLIENTS = 4
const PACE_MS = 5

export async function measureReload(scenario, bench) {
  const rows = []
  for (const what of wanted(scenario, bench)) {
    const row = { scenario: scenario.title, proxy: what.label, notes: what.found ? [] : ['not found'] }
    rows.push(row)
    if (!what.found) continue
    const contender = await startContender({ ...what, probed: true }, bench)
    if (contender.problem) {
      row.notes.push(contender.problem)
      continue
    }
    await measureOne(contender, row)
    await contender.stop()
  }
  return rows
}

async function measureOne(contender, row) {
  await delay(SETTLE_MS)
  const before = residentMb(contender)
  const load = startLoad(contender.url)
  const times = { inPlace: [], renamed: [] }
  for (let change = 1; change <= CHANGES; change++) {
    const isRenamed = change % 2 === 0
    const took = await timeOfChange(contender, change, isRenamed)
    if (took === null) {
      row.notes.push(`change ${change} never showed`)
      break
    }
    times[isRenamed ? 'renamed' : 'inPlace'].push(took)
  }
  const { requests, failed } = await load.stop()
  await delay(SETTLE_MS)
  if (times.renamed.length === 0) return
  row.p50 = median(times.inPlace) * 1000
  row.p99 = Math.max(...times.inPlace) * 1000
  row.residentMb = residentMb(contender)
  row.effectiveMs = median(times.inPlace)
  row.growth = row.residentMb / before
  row.notes.push(
    `by rename ${median(times.renamed).toFixed(0)} ms`,
    `RSS ${row.growth.toFixed(2)}x of ${before.toFixed(0)} MB before`,
    `${failed} of ${requests} requests failed`,
  )
}

async function timeOfChange({ dir, url }, change, isRenamed) {
  const file = join(dir, 'gateway.yaml')
  const text = readFileSync(file, 'utf8').replace(/version-\d+/, `version-${change}`)
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  if (isRenamed) writeFileSync(`${file}.new`, text)
  const begun = performance.now()
  if (isRenamed) renameSync(`${file}.new`, file)
  else writeFileSync(file, text)
  try {
    while (performance.now() - begun < LONGEST_MS) {
      const answer = await ask(`${url}/probe`, agent)
      if (answer.body === `version-${change}`) return performance.now() - begun
      await delay(1)
    }
    return null
  } finally {
    agent.destroy()
  }
}

/** Sends requests at a low rate; anything but a response of the origin counts as failed. */
function startLoad(url) {
  const counts = { requests: 0, failed: 0 }
  const state = { isOver: false }
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const client = async () => {
    while (!state.isOver) {
      const { status } = await ask(`${url}/r0/x`, agent)
      counts.requests++
      if (status !== 200) counts.failed++
      await delay(PACE_MS)
    }
  }
  const clients = Array.from({ length: CLIENTS }, client)
  return {
    async stop() {
      state.isOver = true
      await Promise.all(clients)
      agent.destroy()
      return counts
    },
  }
}

function ask(url, agent) {
  return new Promise((resolve) => {
    get(url, { agent }, (response) => {
      let body = ''
      response.setEncoding('utf8').on('data', (text) => (body += text))
      response.on('end', () => resolve({ status: response.statusCode, body }))
      response.on('error', () => resolve({ status: 0, body: '' }))
    }).on('error', () => resolve({ status: 0, body: '' }))
  })
}
