import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, test, type TestContext } from 'node:test'
import { noPostgres, PostgresServer } from '../stores/testing/postgres-server.ts'
import { noRedis, useRedis } from '../stores/testing/redis-server.ts'
import { eventually, metric, type Program } from '../testing/process.ts'
import { until } from '../testing/scene.ts'
import { type BudgetSums, CENT, createKey, send, useChaos, useSums } from './test-chaos-scene.ts'

/** Pays for more calls than the gateways get while servers fail, so that the last calls meet its end. */
const USD = 7
const CALLS = 500

/** The calls of one gateway by their models, with the status that the client saw. */
class Caller {
  readonly name: string
  readonly program: Program
  readonly statuses = new Map<string, number>()
  readonly #key: string

  constructor(name: string, program: Program, key: string) {
    this.name = name
    this.program = program
    this.#key = key
  }

  async call(): Promise<number> {
    const model = `call-${this.name}-${this.statuses.size}`
    this.statuses.set(model, 0)
    const status = await send(this.program, this.#key, model)
    this.statuses.set(model, status)
    return status
  }

  /** Sends calls, some of them at once. */
  async calls(count: number, atOnce = 20): Promise<void> {
    let left = count
    const work = async (): Promise<void> => {
      while (left-- > 0) await this.call()
    }
    await Promise.all(Array.from({ length: atOnce }, work))
  }

  completed(): string[] {
    return [...this.statuses].filter(([, status]) => status === 200).map(([model]) => model)
  }
}

/** Notes what the budgets have, again and again. */
function watch(t: TestContext, sums: () => Promise<BudgetSums[] | null>): BudgetSums[] {
  const seen: BudgetSums[] = []
  const over = new AbortController()
  t.after(() => over.abort())
  void (async () => {
    while (!over.signal.aborted) {
      seen.push(...((await sums()) ?? []))
      await pause(5)
    }
  })()
  return seen
}

describe('budgets in Redis, with keys and ledger in PostgreSQL', { skip: noRedis || noPostgres }, () => {
  test('agree to the call, though gateways and servers are killed, stopped and slow, and clocks step', async (t) => {
    const redis = await useRedis(t)
    const postgres = await PostgresServer.create()
    t.after(() => postgres.remove())
    const { origin, start, startWithWrongClock } = await useChaos(t, { redis, postgres, usd: USD })
    const [victim, other] = await Promise.all([start(), startWithWrongClock()])
    const key = await createKey(victim.program, USD)
    const first = new Caller('first', victim.program, key)
    const second = new Caller('second', other.program, key)
    await eventually('both gateways know the key', async () => (await second.call()) === 200)

    const sums = useSums(t, redis)
    const seen = watch(t, sums)
    const entries = async (): Promise<Map<string, number[]>> => {
      const rows = await postgres.run('SELECT requested_model, nano_dollars::text AS cost FROM chaos.ledger')
      const found = new Map<string, number[]>()
      for (const { requested_model: model, cost } of rows) {
        const name = String(model)
        found.set(name, [...(found.get(name) ?? []), Number(cost ?? 0)])
      }
      return found
    }

    // Calls that ended well before the kill are in both stores.
    await first.calls(20)
    const early = first.completed()
    assert.equal(early.length, 20)
    await eventually('the first calls are stored', async () => {
      const stored = await entries()
      return early.every((model) => stored.has(model))
    })

    // A gateway is killed in the middle of 500 calls, and started again.
    const before = origin.seen.length
    const both = [first.calls(CALLS / 2), second.calls(CALLS / 2)]
    await until(() => origin.seen.length >= before + CALLS / 4)
    victim.program.child.kill('SIGKILL')
    await victim.program.ended
    const successor = await start(victim.file)
    const third = new Caller('third', successor.program, key)
    other.stepClock()
    await Promise.all(both)

    // Calls go on while each server is silent, killed and slow.
    const during = async (...faults: readonly (() => void | Promise<void>)[]): Promise<void> => {
      for (const fault of faults) {
        const calls = [second.calls(10, 5), third.calls(10, 5)]
        await fault()
        await Promise.all(calls)
      }
    }
    const whilePaused = (server: { pause(): void; resume(): void }) => async (): Promise<void> => {
      server.pause()
      await pause(200)
      server.resume()
    }
    const restarted = (server: { stop(signal?: 'SIGKILL'): Promise<void>; start(): Promise<void> }) => async () => {
      await server.stop('SIGKILL')
      await server.start()
    }
    await during(whilePaused(redis), whilePaused(postgres), restarted(redis), restarted(postgres))
    const hiccups = new AbortController()
    const slow = (async () => {
      while (!hiccups.signal.aborted) {
        for (const server of [redis, postgres]) server.pause()
        await pause(20)
        for (const server of [redis, postgres]) server.resume()
        await pause(20)
      }
    })()
    await during(() => {})
    hiccups.abort()
    await slow

    // The leases of the killed gateway end, which calls of others notice, and the rest of the budget is spent.
    const isSettled = async (): Promise<boolean> => (await sums())?.every(({ reserved }) => reserved === 0) === true
    for (let turn = 0; turn < 100 && !(await isSettled()); turn++) {
      assert.notEqual(await third.call(), 429)
      await pause(800)
    }
    while ((await third.call()) !== 429) await pause(0)
    assert.equal(await second.call(), 429)
    await eventually('nothing is reserved', isSettled)

    const survivors = [...second.completed(), ...third.completed()]
    await eventually('all calls of living gateways are stored', async () => {
      const stored = await entries()
      return survivors.every((model) => stored.has(model))
    })
    for (const { program } of [other, successor]) {
      assert.equal(await metric(program, 'portico_ledger_store_up'), 1)
      assert.doesNotMatch(program.stdout(), /are lost|dropped/)
    }
    assert.ok(seen.length > 100)
    const limit = USD * 1e9
    for (const { spent, reserved } of seen) assert.ok(spent + reserved <= limit, `${spent} + ${reserved}`)

    const stored = await entries()
    for (const [model, costs] of stored) assert.equal(costs.length, 1, `${model} has ${costs.length} entries`)
    for (const model of [...early, ...survivors]) assert.deepEqual(stored.get(model), [CENT], model)
    const costOf = (caller: Caller): number =>
      [...caller.statuses.keys()].reduce((sum, model) => sum + (stored.get(model)?.[0] ?? 0), 0)
    const final = (await sums()) ?? []
    assert.equal(final.length, 2)
    assert.equal(final[0]?.spent, final[1]?.spent)
    const ofVictim = (final[0]?.spent ?? 0) - costOf(second) - costOf(third)
    const lost = first.completed().filter((model) => !stored.has(model)).length
    t.diagnostic(
      `${stored.size} entries; of the killed gateway, clients saw ${first.completed().length} calls, the ledger has ` +
        `${costOf(first) / CENT}, Redis ${ofVictim / CENT}; ${lost} entries were lost with it`,
    )
    // The successor has settled and stored what the journal of the killed gateway had.
    assert.equal(lost, 0)
    assert.equal(ofVictim, costOf(first))
  })
})
