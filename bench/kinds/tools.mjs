// Tool calls to an MCP server, each client with its own session, at a fixed load and at saturation.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { LOAD_CORE, startChild } from '../children.mjs'
import { freePort, untilAnswers } from '../ports.mjs'
import { measured, noteForeign, noteHeld, residentMb, startAll, summarize } from './shared.mjs'

export async function measureTools(scenario, bench) {
  const { seconds, saturatedSeconds, warmSeconds, rounds } = bench.times
  const { contenders, rows, stop } = await startTools(scenario, bench)
  const steps = new Map(contenders.map((contender) => [contender, []]))
  for (const contender of contenders) await contender.callTools(0, warmSeconds)
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) steps.get(contender).push(await toolStep(contender, scenario, seconds))
    for (const contender of contenders) {
      const step = await saturatedStep(contender, saturatedSeconds)
      steps.get(contender).push({ ...step, residentMb: residentMb(contender) })
    }
  }
  const keys = ['cpu', 'p50', 'p99', 'rate', 'saturatedCpu', 'saturatedP99', 'residentMb']
  for (const contender of contenders) summarize(contender.row, steps.get(contender), keys)
  await stop()
  return rows
}

/** Starts every contender of the scenario with an MCP server, and clients with open sessions. */
export async function startTools(scenario, bench) {
  const port = await freePort()
  const log = join(bench.dir, 'origin-mcp.log')
  const args = [join(import.meta.dirname, '../origins/mcp.mjs'), String(port)]
  const origin = startChild({ command: process.execPath, args, core: LOAD_CORE, log })
  const problem = await untilAnswers(`http://127.0.0.1:${port}/`, origin)
  if (problem) throw new Error(`the MCP server did not start: ${problem}`)
  const started = await startAll(scenario, { ...bench, origin: port })
  const contenders = []
  for (const contender of started.contenders) {
    contenders.push({ ...contender, ...(await openClients(contender.url, scenario.crowd)) })
  }
  const stop = async () => {
    for (const { closeClients } of contenders) closeClients()
    await Promise.all([started.stop(), origin.stop()])
  }
  return { ...started, contenders, stop }
}

export async function toolStep(contender, { crowd, rps }, seconds) {
  const step = await measured(contender, () => contender.callTools(rps, seconds))
  if (!step) return { notes: ['fixed load did not end'] }
  const notes = [...step.notes, ...noteForeign(step), ...noteHeld(step, crowd * rps)]
  return { cpu: step.cpu, p50: step.load.p50, p99: step.load.p99, notes }
}

async function saturatedStep(contender, seconds) {
  const step = await measured(contender, () => contender.callTools(0, seconds))
  if (!step) return { notes: ['saturating load did not end'] }
  return { rate: step.load.rate, saturatedCpu: step.cpu, saturatedP99: step.load.p99, notes: step.notes }
}

/** Clients are connected by pipes and end with the bench. */
async function openClients(url, sessions) {
  const args = [join(import.meta.dirname, '../tool-calls.mjs'), url, String(sessions)]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.on('error', () => {})
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const nextLine = async () => (await lines.next()).value ?? null
  await nextLine()
  return {
    async callTools(rps, seconds) {
      child.stdin.write(`${rps} ${seconds}\n`)
      const line = await nextLine()
      return line === null ? null : JSON.parse(line)
    },
    closeClients: () => child.kill(),
  }
}
