import assert from 'node:assert/strict'
import { loadFeatures } from '../../compile/load-features.ts'
import { Simulation } from '../../simulate/simulation.ts'
import type { SimulatedRequest } from '../../simulate/outcome.ts'
import type { WorldReply } from '../../simulate/world.ts'
import { loadConfig } from '../../sources/file.ts'
import { printProblems } from '../../sources/print-problems.ts'
import type { RequestRecord } from '../../telemetry/recorder/record.ts'
import type { BacktestConfig } from '../backtest.ts'

export const CLOCK = Date.parse('2026-01-31T12:00:00Z')

/** Returns a config with these routes, as YAML. */
export async function routesConfig(routes: string): Promise<BacktestConfig> {
  return wholeConfig(`${BACKENDS}
binds: [{ port: 8080, listeners: [{ name: web, routes: ${routes} }] }]`)
}

export async function wholeConfig(yaml: string): Promise<BacktestConfig> {
  const loaded = loadConfig(yaml, { file: 'gateway.yaml', dir: '.', env: {} })
  assert.ok(loaded.ok, loaded.ok ? '' : printProblems(loaded.problems))
  await loadFeatures(loaded.ir)
  return { ir: loaded.ir, locate: loaded.locate }
}

interface RecordedOptions {
  /** Whether records have only the details that the recorder keeps of passed requests. */
  readonly isBrief?: boolean
  readonly reply?: Partial<WorldReply>
}

/** Sends requests to a config, one each second, and returns their records. */
export async function recordsOf(
  { ir }: BacktestConfig,
  requests: readonly Partial<SimulatedRequest>[],
  { isBrief = false, reply = {} }: RecordedOptions = {},
): Promise<RequestRecord[]> {
  const answer = {
    status: 200,
    headers: [],
    body: Buffer.from('ok'),
    trailers: null,
    delayMs: 0,
    fault: null,
    ...reply,
  }
  const upstream = { refusal: null, speaksHttp2: true, answer: (): WorldReply => answer }
  const world = { clock: CLOCK, seed: 1, env: {}, hosts: {}, upstream: () => upstream }
  const simulation = await Simulation.start(ir, world, { hasDetails: true })
  const records: RequestRecord[] = []
  for (const request of requests) {
    simulation.time.moveTo(simulation.time.now() + 1000)
    const { record } = await simulation.send({ ...REQUEST, ...request })
    assert.ok(record !== null)
    records.push(isBrief && record.outcome === 'passed' ? { ...record, ...BRIEF } : record)
  }
  return records
}

const BACKENDS =
  'backends: [{ name: a, static: { host: 127.0.0.1, port: 9000 } }, { name: b, static: { host: 127.0.0.1, port: 9001 } }]'

const REQUEST: SimulatedRequest = {
  ...{ port: null, scheme: 'http', version: 'HTTP/1.1', method: 'GET', authority: 'a.test', target: '/', headers: [] },
  ...{ body: Buffer.alloc(0), trailers: null, client: { address: '127.0.0.1', port: 4000 }, server: null },
}

/** The details that records of passed requests lack, unless the request was sampled. */
const BRIEF = {
  ...{ steps: null, calls: null, requestHeaders: null, afterPolicies: null, responseHeaders: null },
  ...{ requestBody: null, responseBody: null, variables: null, isSampled: false },
}
