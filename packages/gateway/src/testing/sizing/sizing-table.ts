import { type KeyOutcome, type SimulationRules, simulateBudgets } from './budget-simulation.ts'
import { memoryStores } from './memory-stores.ts'
import { createWorkload, END_MS, MOST_OUTPUT, type WorkloadSize } from './workload.ts'

/** A row of the sizing table: machines that share a store, or machines that each count on their own. */
interface SizingScenario {
  readonly name: string
  readonly isShared: boolean
  readonly rules: SimulationRules
}

/** The outcome of a scenario over all keys, as shares of the budgets. */
interface SizingResult {
  readonly name: string
  /** The share of calls that passed. */
  readonly passed: number
  /** The charges above the budgets: of all keys (`overspent`), and of the worst key (`mostOverspent`). */
  readonly overspent: number
  readonly mostOverspent: number
  /**
   * The unused budgets at the end, although clients wanted more: of all keys (`unused`), and of the worst key
   * (`mostUnused`).
   */
  readonly unused: number
  readonly mostUnused: number
}

export const FULL_SIZE: WorkloadSize = { seed: 1, keys: 1_000, machines: 50, budget: 20_000, demand: 2 }

function sizingScenarios({ budget, machines }: WorkloadSize): SizingScenario[] {
  const rules: SimulationRules = { budget, reservedOutput: MOST_OUTPUT }
  const killed = machines / 10
  const outage = { from: END_MS * 0.4, to: END_MS * 0.5 }
  const shared = (name: string, more: Partial<SimulationRules> = {}): SizingScenario => {
    return { name, isShared: true, rules: { ...rules, ...more } }
  }
  return [
    shared('Redis; clients set `max_tokens` to 1,200'),
    shared('Redis; calls without `max_tokens` reserve 4,096', { reservedOutput: 4_096 }),
    shared('Redis; 1 % of calls cost twice what was reserved', { excessShare: 0.01 }),
    shared(`Redis; ${killed} of ${machines} machines are killed`, { killed }),
    shared('Redis is away for 30 s, `failureMode: Closed`', { outage: { ...outage, failureMode: 'Closed' } }),
    shared('Redis is away for 30 s, `failureMode: Open`', { outage: { ...outage, failureMode: 'Open' } }),
    { name: 'no Redis; the whole budget on each machine', isShared: false, rules },
    {
      name: `no Redis; one of ${machines} equal parts on each machine`,
      isShared: false,
      rules: { ...rules, budget: budget / machines },
    },
  ]
}

export async function runScenarios(size: WorkloadSize): Promise<SizingResult[]> {
  const calls = createWorkload(size)
  const results: SizingResult[] = []
  for (const scenario of sizingScenarios(size)) {
    const outcomes = await simulateBudgets(calls, memoryStores(scenario), scenario.rules)
    results.push(summarize(scenario.name, size.budget, outcomes))
  }
  return results
}

export async function sizingTable(size: WorkloadSize): Promise<string> {
  const header = ['Setup', 'calls that passed', 'overspent', 'overspent, worst key', 'unused', 'unused, worst key']
  const results = await runScenarios(size)
  return [`| ${header.join(' | ')} |`, `|${'---|'.repeat(header.length)}`, ...results.map(rowOf)].join('\n')
}

function summarize(name: string, budget: number, outcomes: ReadonlyMap<string, KeyOutcome>): SizingResult {
  let [passed, calls, over, unused, mostOver, mostUnused] = [0, 0, 0, 0, 0, 0]
  for (const outcome of outcomes.values()) {
    passed += outcome.passed
    calls += outcome.passed + outcome.refused
    const excess = Math.max(0, outcome.charged - budget)
    const rest = Math.max(0, budget - outcome.charged)
    over += excess
    unused += rest
    mostOver = Math.max(mostOver, excess)
    mostUnused = Math.max(mostUnused, rest)
  }
  const all = budget * outcomes.size
  return {
    name,
    passed: passed / calls,
    overspent: over / all,
    mostOverspent: mostOver / budget,
    unused: unused / all,
    mostUnused: mostUnused / budget,
  }
}

function rowOf({ name, passed, overspent, mostOverspent, unused, mostUnused }: SizingResult): string {
  const cells = [passed, overspent, mostOverspent, unused, mostUnused].map((share) => `${(share * 100).toFixed(2)} %`)
  return `| ${name} | ${cells.join(' | ')} |`
}
