import type { Budget, BudgetReservation, BudgetStore } from '../../stores/budgets/budget-store.ts'
import { countedPeriod } from '../../state/budget-period.ts'
import { END_MS, LONGEST_CALL_MS, type SimulatedCall } from './workload.ts'

/** The stores of all machines, with a clock that the simulation sets. */
export interface SimulatedStores {
  /** Returns the store as one machine uses it. */
  open(machine: number): BudgetStore
  /** Milliseconds since the begin of the simulation. */
  setClock(now: number): Promise<void> | void
  /** Resolves when everything that was settled counts. */
  settled(): Promise<void> | void
}

/** The settings of a run, and what goes wrong in it. */
export interface SimulationRules {
  /** Tokens that the table of a machine has for each key. */
  readonly budget: number
  /** Output tokens that a call reserves beside its prompt. */
  readonly reservedOutput: number
  /** The share of calls whose provider reports twice what was reserved. */
  readonly excessShare?: number
  /** Machines with a lower number are killed in the middle, with their calls. */
  readonly killed?: number
  /** While the store does not answer, calls pass (`Open`) or are refused (`Closed`). */
  readonly outage?: { readonly from: number; readonly to: number; readonly failureMode: 'Open' | 'Closed' }
  readonly tickMs?: number
}

/** The calls of one key. */
export interface KeyOutcome {
  /** Tokens that providers charge. */
  charged: number
  passed: number
  refused: number
}

interface OpenCall {
  readonly reservation: BudgetReservation
  readonly machine: number
  readonly cost: number
  readonly end: number
}

/** Sends the calls to the machines, and returns the outcome by key. */
export async function simulateBudgets(
  calls: readonly SimulatedCall[],
  stores: SimulatedStores,
  rules: SimulationRules,
): Promise<Map<string, KeyOutcome>> {
  const { tickMs = 100, outage, killed = 0 } = rules
  const budget = simulatedBudget(rules.budget)
  const machines = new Map<number, BudgetStore>()
  const storeOf = (machine: number): BudgetStore => {
    const store = machines.get(machine) ?? stores.open(machine)
    machines.set(machine, store)
    return store
  }
  const survivors = Math.max(...calls.map(({ machine }) => machine)) + 1 - killed
  const outcomes = new Map<string, KeyOutcome>()
  let open: OpenCall[] = []
  let next = 0
  for (let now = tickMs; now <= END_MS + LONGEST_CALL_MS + tickMs; now += tickMs) {
    const areKilled = killed > 0 && now >= KILLED_AT
    const isAway = outage !== undefined && now >= outage.from && now < outage.to
    await stores.setClock(now)
    const rest: OpenCall[] = []
    for (const item of open) {
      if (areKilled && item.machine < killed) continue
      // Costs wait in the gateway until the store is back.
      if (item.end <= now && !isAway) item.reservation.settle([item.cost])
      else rest.push(item)
    }
    open = rest
    await stores.settled()
    for (let call = calls[next]; call !== undefined && call.start < now; call = calls[++next]) {
      const outcome = outcomes.get(call.key) ?? { charged: 0, passed: 0, refused: 0 }
      outcomes.set(call.key, outcome)
      // The load balancer sends no calls to a machine that was killed.
      const machine = areKilled && call.machine < killed ? killed + (call.machine % survivors) : call.machine
      const reservation = storeOf(machine).open([{ budget, key: call.key }])
      const reserved = call.prompt + rules.reservedOutput
      const isGranted = isAway ? outage.failureMode === 'Open' : (await reservation.reserve([reserved])) === null
      if (!isGranted) {
        outcome.refused++
        continue
      }
      const cost = call.chance < (rules.excessShare ?? 0) ? 2 * reserved : call.prompt + call.output
      outcome.passed++
      outcome.charged += cost
      open.push({ reservation, machine, cost, end: now + call.duration })
    }
  }
  return outcomes
}

function simulatedBudget(amount: number): Budget {
  return { id: 'sizing', amount, maxKeys: 10_000, isKeyed: true, ...countedPeriod({ per: 'Lifetime' }) }
}

const KILLED_AT = END_MS / 2
