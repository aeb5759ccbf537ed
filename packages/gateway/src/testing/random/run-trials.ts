import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { Random } from '../../../../http/src/http1/fuzz/random.ts'
import { type RandomConfig, RandomConfigs } from './random-config.ts'
import type { Schema } from './schema-value.ts'
import { useServices } from './services.ts'
import { runTrial } from './trial.ts'

interface TrialsOptions {
  seed: number
  /** Requests for each config. */
  requests: number
  /** At most this many configs, and no new one after so many milliseconds. */
  configs: number
  forMs: number
}

/** Runs gateways with random configs under random requests; fails with the first config that a finding is about. Returns a summary. */
export async function runTrials(
  t: TestContext,
  { seed, requests, configs: most, forMs }: TrialsOptions,
): Promise<string> {
  const schemaFile = new URL('../../../../../schema/config.json', import.meta.url)
  const schema = JSON.parse(readFileSync(schemaFile, 'utf8')) as Schema
  const random = new Random(seed)
  const services = await useServices(t, seed)
  const configs = new RandomConfigs(random, schema, services)
  const outcomes = new Map<string, number>()
  const endsAt = performance.now() + forMs
  let live: RandomConfig | null = null
  const uncaught = (error: unknown): void => t.diagnostic(`${about(seed, live)}\nuncaught: ${String(error)}`)
  process.on('uncaughtExceptionMonitor', uncaught)
  t.after(() => process.off('uncaughtExceptionMonitor', uncaught))
  while (configs.whole < most && (configs.running === 0 || performance.now() < endsAt)) {
    live = configs.make()
    if (live === null) continue
    const result = await runTrial(random, live, services, { requests, limitMs: LIMIT_MS })
    assert.deepEqual(result.findings, [], about(seed, live))
    for (const [outcome, count] of result.outcomes) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + count)
  }
  const sent = [...outcomes.values()].reduce((sum, count) => sum + count, 0)
  assert.ok(configs.running >= configs.whole * LEAST_RUNNING, `only ${configs.running} of ${configs.whole} configs ran`)
  assert.equal(sent, configs.running * requests)
  const counts = [outcomes, configs.seen].map((map) => JSON.stringify(Object.fromEntries(map)))
  return `seed ${seed}: ${configs.running} of ${configs.whole} configs ran, ${sent} requests ended: ${counts.join(', ')}`
}

function about(seed: number, config: RandomConfig | null): string {
  return `seed ${seed}, config ${JSON.stringify(config)}`
}

/** A request that takes longer hangs, on a busy machine too. */
const LIMIT_MS = 30_000
const LEAST_RUNNING = 0.8
