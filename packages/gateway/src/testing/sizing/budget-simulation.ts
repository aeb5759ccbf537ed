import type { Budget, BudgetReservation, BudgetStore } from '../../stores/budgets/budget-store.ts'
import { countedPeriod } from '../../state/budget-period.ts'
import { END_MS, LONGEST_CALL_MS, type SimulatedCall } from './workload.ts'

/** The budget stores of all simulated machines, whose clock the simulation sets. */
export interface SimulatedStores {
  /** Returns the store that one machine uses. */
  open(machine: number): BudgetStore
  /** Sets the clock to the milliseconds since the beginning of the simulation. */
  setClock(now: number): Promise<void> | void
  /** Resolves when all settled amounts are counted. */
  settled(): Promise<void> | void
}

/** The settings of a simulation run, with the failures to simulate. */
export interface SimulationRules {
  /** The tokens that each key may spend in one table; machines share a table or have one each. */
  readonly budget: number
  /** The output tokens that a call reserves in addition to its prompt. */
  readonly reservedOutput: number
  /** The share of calls whose provider charges twice the reserved tokens. */
  readonly excessShare?: number
  /** The number of machines that are killed in the middle of the run, with their calls. */
  readonly killed?: number
  /** An outage of the store, in which calls pass (`Open`) or are refused (`Closed`). */
  readonly outage?: { readonly from: number; readonly to: number; readonly failureMode: 'Open' | 'Closed' }
  readonly tickMs?: number
}

/** The outcome of all calls of one key. */
export interface KeyOutcome {
  /** The tokens that providers charge for the calls of the key. */
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

/** Sends calls to the simulated machines, and returns the outcome by key. */
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
      // A call that ends during an outage is settled after the outage.
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
