import { hash, randomBytes } from 'node:crypto'
import { PARTS } from '../../state/budget-period.ts'
import type { CalloutOutcome } from '../../telemetry/metrics/callout-metrics.ts'
import {
  type Budget,
  type BudgetBalance,
  type BudgetDecision,
  type BudgetReservation,
  type BudgetShare,
  type BudgetStore,
  wholeAmount,
} from '../budgets/budget-store.ts'
import { type BudgetScripts, createBudgetScripts } from './budget-scripts.ts'
import type { RedisSettlement, Settlement } from '../budgets/settlement.ts'
import { type RedisClient, RedisUnavailable } from './redis-client.ts'
import { RedisFailure, type RedisReply } from './resp-reader.ts'
import { SettlementQueue } from './settlement-queue.ts'

interface RedisBudgetsParts {
  client: RedisClient
  /** Separates the keys of gateways that share a server, but no budgets. */
  prefix: string
  /** Whether calls pass while Redis does not answer. */
  failsOpen: boolean
  scripts?: BudgetScripts
  /** Milliseconds since 1970. */
  clock(): number
  /** Called with the duration of each decision. */
  record(outcome: CalloutOutcome, milliseconds: number): void
  /** Called with each failure, and with null when Redis answers. */
  report(problem: string | null): void
  /** Called for costs that could not be stored, and are lost. */
  lost(): void
}

/** Budgets in Redis, which all gateways with the same server and prefix share. */
export class RedisBudgets implements BudgetStore {
  readonly #parts: RedisBudgetsParts
  readonly #scripts: BudgetScripts
  readonly #settlements: SettlementQueue<SettleCall>
  /** The hash of the last key of each budget: most budgets have one key. */
  readonly #hashes = new WeakMap<Budget, { readonly key: string; readonly hash: string }>()
  /** The ids of reservations differ between all workers of all gateways. */
  readonly #instance = randomBytes(12).toString('base64url')
  #serial = 0
  /** The clock of Redis, less that of this process. */
  #offset = 0

  constructor(parts: RedisBudgetsParts) {
    this.#parts = parts
    this.#scripts = parts.scripts ?? createBudgetScripts()
    this.#settlements = new SettlementQueue<SettleCall>({
      send: (items) => this.#run(this.#command(settleAll(items))),
      lost: () => parts.lost(),
    })
  }

  prepare(): boolean {
    return true
  }

  open(shares: readonly BudgetShare[]): BudgetReservation {
    return new RedisReservation(shares, `${this.#instance}-${(this.#serial++).toString(36)}`, this)
  }

  /** Redis decides when the call is reserved, in the same step. */
  look(): BudgetDecision {
    return null
  }

  async balances(shares: readonly BudgetShare[]): Promise<readonly BudgetBalance[] | null> {
    const read = async ({ budget, key }: BudgetShare): Promise<BudgetBalance> => {
      const { number, end } = budget.periodAt(this.now())
      const at = this.shareKey(budget, key, number)
      if (budget.partMs === null) {
        const [spent = 0, reserved = 0] = numbersOf(await this.#run(['HMGET', at, 's', 'r']))
        return { used: spent + reserved, end }
      }
      const call = { script: 'balance', keys: [at], values: [String(budget.partMs)] } as const
      const [used = 0, more = 0] = numbersOf(await this.#run(this.#command(call)))
      return { used, end: more }
    }
    try {
      return await Promise.all(shares.map(read))
    } catch (error) {
      if (error instanceof RedisUnavailable) return null
      throw error
    }
  }

  /** Stores what is still to be stored, for at most `ms`, and ends the connection. */
  async close(ms: number): Promise<void> {
    await this.#settlements.drain(ms)
    this.#parts.client.close()
  }

  /** Resolves when everything that was settled is stored. */
  settled(): Promise<void> {
    return this.#settlements.settled()
  }

  /** Returns a mark of the costs so far, for `has`. */
  mark(): number {
    return this.#settlements.mark()
  }

  /** Whether Redis has all costs up to the mark. */
  has(mark: number): boolean {
    return this.#settlements.has(mark)
  }

  // Called by reservations.

  key(name: string): string {
    return `${this.#parts.prefix}:${name}`
  }

  /** The key of a share in a period. Keys of clients stay out of Redis. */
  shareKey(budget: Budget, key: string, period: number): string {
    let known = this.#hashes.get(budget)
    if (known?.key !== key) {
      known = { key, hash: shortHash(`${budget.id}\n${key}`) }
      this.#hashes.set(budget, known)
    }
    return this.key(`budget:${known.hash}:${period}`)
  }

  get failsOpen(): boolean {
    return this.#parts.failsOpen
  }

  /** The time by the clock of Redis, as far as it is known. */
  now(): number {
    return this.#parts.clock() + this.#offset
  }

  /** Runs a script; resolves with `unsent` or `unknown` when Redis gave no decision, and `unknown` may be any. */
  async decide(command: () => ScriptCall): Promise<ScriptReply> {
    const startedAt = performance.now()
    try {
      let reply = scriptReply(await this.#run(this.#command(command())))
      // The script did nothing, because the period has changed or this clock is wrong; more than one repetition is rare.
      for (let turn = 0; turn < 2 && reply.kind === 'clock'; turn++) {
        this.#offset = reply.now - this.#parts.clock()
        reply = scriptReply(await this.#run(this.#command(command())))
      }
      this.#parts.record('answered', performance.now() - startedAt)
      return reply
    } catch (error) {
      if (!(error instanceof RedisUnavailable)) throw error
      this.#parts.record(error.isTimeout ? 'timeout' : 'failed', performance.now() - startedAt)
      return { kind: error.wasSent ? 'unknown' : 'unsent', now: 0, index: 0, left: 0, end: 0 }
    }
  }

  renew(call: ScriptCall): void {
    // A renewal that fails is repeated by the next one.
    this.#run(this.#command(call)).catch(() => {})
  }

  /** Settles a request, also one of another process. */
  settle(call: SettleCall): void {
    this.#settlements.add(call)
  }

  #command({ script, keys, values }: ScriptCall): string[] {
    return ['EVALSHA', this.#scripts[script].sha, String(keys.length), ...keys, ...values]
  }

  /** Rejects with `RedisUnavailable` when the command failed, whatever the reason. */
  async #run(command: readonly string[]): Promise<RedisReply> {
    const { client } = this.#parts
    try {
      const reply = await client.call(command)
      if (!(reply instanceof RedisFailure)) {
        this.#parts.report(null)
        return reply
      }
      const problem = `Redis answered ${reply.code}`
      if (!KEEPS_CONNECTION.has(reply.code)) client.reset(problem)
      throw new RedisUnavailable(problem, { wasSent: true })
    } catch (error) {
      this.#parts.report(error instanceof Error ? error.message : String(error))
      throw error
    }
  }
}

/** A call of a script. */
interface ScriptCall {
  readonly script: keyof BudgetScripts
  readonly keys: readonly string[]
  readonly values: readonly string[]
}

interface ScriptReply {
  readonly kind: string
  readonly now: number
  readonly index: number
  readonly left: number
  readonly end: number
}

/** The cost of one request: its keys and values in the `settle` script. */
type SettleCall = Pick<RedisSettlement, 'keys' | 'values'>

function settleAll(items: readonly SettleCall[]): ScriptCall {
  return { script: 'settle', keys: items.flatMap(({ keys }) => keys), values: items.flatMap(({ values }) => values) }
}

class RedisReservation implements BudgetReservation {
  readonly #shares: readonly BudgetShare[]
  readonly #id: string
  readonly #store: RedisBudgets
  #amounts: readonly number[] = []
  /** The keys and ends of the periods that the reservation counts in; null before the first one. */
  #periods: readonly SharePeriod[] | null = null

  constructor(shares: readonly BudgetShare[], id: string, store: RedisBudgets) {
    this.#shares = shares
    this.#id = id
    this.#store = store
  }

  get amounts(): readonly number[] {
    return this.#amounts
  }

  async check(): Promise<BudgetDecision> {
    let periods: readonly SharePeriod[] = []
    const reply = await this.#store.decide(() => {
      periods = this.#currentPeriods()
      return {
        script: 'check',
        keys: [this.#store.key('pulse'), ...periods.map(({ at }) => at)],
        values: this.#shares.flatMap(({ budget: { amount } }, i) => {
          const { start, end, partMs } = periods[i] ?? NO_PERIOD
          return [amount, start, end, partMs].map(String)
        }),
      }
    })
    return this.#decisionOf(reply)
  }

  async reserve(amounts: readonly number[]): Promise<BudgetDecision> {
    const wanted = amounts.map(wholeAmount)
    const earlier = this.#periods
    let periods: readonly SharePeriod[] = []
    const reply = await this.#store.decide(() => {
      // A request that ends before the decision gives back what Redis may reserve in these periods.
      periods = this.#periods = earlier ?? this.#currentPeriods()
      const keys = [this.#store.key('pulse'), this.#doneKey, ...periods.map(({ at }) => at)]
      const values = [this.#id, earlier === null ? 'new' : 'move', String(this.#shares.length)]
      for (const [i, { budget }] of this.#shares.entries()) {
        const counter = periods[i]?.counter ?? null
        if (counter !== null) keys.push(counter)
        const { start, end, partMs } = periods[i] ?? NO_PERIOD
        const most = counter === null ? 0 : budget.maxKeys
        values.push(...[wanted[i] ?? 0, budget.amount, start, end, most, partMs].map(String))
      }
      return { script: 'reserve', keys, values }
    })
    // Nothing was reserved, so there is nothing to give back.
    if (reply.kind !== 'ok' && reply.kind !== 'unknown') this.#periods = earlier
    const decision = this.#decisionOf(reply)
    if (decision === null) this.#amounts = wanted
    return decision
  }

  renew(): void {
    if (this.#periods === null) return
    const keys = [this.#store.key('pulse'), ...this.#periods.map(({ at }) => at)]
    this.#store.renew({ script: 'renew', keys, values: [this.#id] })
  }

  settle(spent: readonly number[], record?: Settlement[]): void {
    // Nothing was reserved, and nothing is to be counted.
    if (this.#periods === null && spent.every((amount) => amount <= 0)) return
    const periods = this.#periods ?? this.#currentPeriods()
    const keys = [this.#doneKey]
    const values = [this.#id, String(periods.length)]
    for (const [i, { at, end, partMs }] of periods.entries()) {
      keys.push(at)
      values.push(String(wholeAmount(spent[i] ?? 0)), String(end), String(partMs))
    }
    record?.push({ kind: 'redis', keys, values })
    this.#store.settle({ keys, values })
  }

  get #doneKey(): string {
    return this.#store.key(`done:${this.#id}`)
  }

  #currentPeriods(): SharePeriod[] {
    const now = this.#store.now()
    return this.#shares.map(({ budget, key }) => {
      const { number, start, end } = budget.periodAt(now)
      const at = this.#store.shareKey(budget, key, number)
      if (budget.partMs === null) return { at, counter: this.#counterKey(budget, number), start, end, partMs: 0 }
      const partMs = budget.partMs
      // The keys of a rolling budget are counted in periods of the same length, because an endless counter would reach
      // its maximum one day.
      const counter = this.#counterKey(budget, Math.floor(now / (partMs * PARTS)))
      return { at, counter, start, end: Math.floor(now) + partMs * (PARTS + 1), partMs }
    })
  }

  #counterKey(budget: Budget, number: number): string | null {
    return budget.isKeyed ? this.#store.key(`keys:${shortHash(budget.id)}:${number}`) : null
  }

  #decisionOf(reply: ScriptReply): BudgetDecision {
    switch (reply.kind) {
      case 'ok':
        return null
      case 'exceeded':
        return { ...reply, kind: 'exceeded' }
      case 'keysFull':
        return { kind: 'keysFull', index: reply.index }
      default:
        return this.#store.failsOpen ? null : { kind: 'unavailable' }
    }
  }
}

/** The keys of a share in a period. */
interface SharePeriod {
  readonly at: string
  /** Counts the keys of the budget; null when their number is bounded anyway. */
  readonly counter: string | null
  readonly start: number
  readonly end: number
  /** The length of one part of a rolling period, in milliseconds; 0 for other periods. */
  readonly partMs: number
}

const NO_PERIOD = { start: 0, end: 0, partMs: 0 }

function shortHash(text: string): string {
  return hash('sha256', text, 'base64url').slice(0, 32)
}

/** Returns the numbers of a Redis reply; a missing value is 0. */
function numbersOf(reply: RedisReply): number[] {
  return Array.isArray(reply) ? (reply as readonly RedisReply[]).map((value) => Number(value ?? 0)) : []
}

function scriptReply(reply: RedisReply): ScriptReply {
  if (reply === 1) return DONE
  const [kind, now, index, left, end] = Array.isArray(reply) ? (reply as readonly RedisReply[]) : []
  if (typeof kind !== 'string') throw new RedisUnavailable('Redis answered something unknown', { wasSent: true })
  return { kind, now: Number(now ?? 0), index: Number(index ?? 0), left: Number(left ?? 0), end: Number(end ?? 0) }
}

const DONE: ScriptReply = { kind: 'ok', now: 0, index: 0, left: 0, end: 0 }

/** Errors that another connection would not change. */
const KEEPS_CONNECTION = new Set(['OOM', 'MISCONF', 'BUSY', 'NOREPLICAS'])
