import assert from 'node:assert/strict'
import { describe, test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { countedPeriod, NEVER } from '../../state/budget-period.ts'
import { MOST_AMOUNT } from '../../state/spend-word.ts'
import { type Budget, type BudgetDecision, type BudgetStore, LEASE_MS } from '../budgets/budget-store.ts'

/** A store with a clock that the test sets. */
interface BudgetScene {
  /** Opens the store as another worker or gateway does. */
  open(): BudgetStore
  /** Sets the clock of the store, in milliseconds since 1970. */
  setClock(now: number): Promise<void>
  /** Resolves when everything that was settled counts. */
  settled(): Promise<void>
  /** More keys than the store has room for, if a budget has room for one. */
  readonly tooManyKeys: number
}

/**
 * The time of the tests is far ahead, because Redis deletes expired keys by its real clock, not by the clock of the
 * test.
 */
const NOON = Date.parse('2100-11-18T12:00:00Z')
const HOUR = 3_600_000
const DAY = 24 * HOUR
const ROLLING = countedPeriod({ per: 'Day', rolling: true })

export function budgetOf(amount: number, fields: Partial<Budget> = {}): Budget {
  return {
    id: 'route/budget/team',
    amount,
    maxKeys: 100,
    isKeyed: true,
    ...countedPeriod({ per: 'Day' }),
    ...fields,
  }
}

/** The tests that every store of budgets must pass. */
export function describeBudgets(
  name: string,
  useScene: (t: TestContext) => Promise<BudgetScene>,
  skip: string | false = false,
): void {
  describe(`budgets in ${name}`, { skip }, () => {
    test('are shared by all that open the store', async (t) => {
      const { ask, settle } = await setUp(t, budgetOf(100))
      const first = await ask(60)
      const second = await ask(40, { by: 1 })
      assert.deepEqual([first.decision, second.decision], [null, null])
      assert.deepEqual((await ask(1, { by: 2 })).decision, exceeded(0, 0))
      await settle(first, 10)
      assert.equal((await ask(50, { by: 1 })).decision, null)
    })

    test('let pass exactly what they have, when all calls come at once', async (t) => {
      const { ask } = await setUp(t, budgetOf(50))
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => ask(1, { by: i % 3 })))
      assert.equal(answers.filter(({ decision }) => decision === null).length, 50)
    })

    test('are separate by key, and keys have room up to a number', async (t) => {
      const { ask, tooManyKeys } = await setUp(t, budgetOf(10, { maxKeys: 1 }))
      assert.deepEqual((await ask(10, { key: 'a' })).decision, null)
      const many = await Promise.all(Array.from({ length: tooManyKeys }, (_, i) => ask(1, { key: `b${i}` })))
      const kinds = new Set(many.map(({ decision }) => decision?.kind))
      assert.ok(kinds.has('keysFull'), 'the keys are bounded')
    })

    test('take nothing from one share when another lacks room', async (t) => {
      const budgets = [budgetOf(100), budgetOf(10, { id: 'small' })]
      const { ask } = await setUp(t, ...budgets)
      assert.deepEqual((await ask(20)).decision, exceeded(1, 10))
      assert.equal((await ask([100, 10])).decision, null)
    })

    test('move a reservation as a whole, and a refused move changes nothing', async (t) => {
      const { ask, settle } = await setUp(t, budgetOf(100), budgetOf(100, { id: 'other' }))
      const held = await ask([60, 10])
      assert.equal((await ask([0, 80])).decision, null)
      assert.deepEqual(await held.reservation.reserve([10, 30]), exceeded(1, 10))
      assert.deepEqual(held.reservation.amounts, [60, 10])
      assert.deepEqual((await ask([41, 0])).decision, exceeded(0, 40))
      assert.equal(await held.reservation.reserve([100, 20]), null)
      assert.deepEqual((await ask([1, 0])).decision, exceeded(0, 0))
      assert.equal(await held.reservation.reserve([30, 0]), null)
      assert.deepEqual(held.reservation.amounts, [30, 0])
      assert.equal((await ask([70, 20])).decision, null)
      await settle(held, [0, 0])
      assert.equal((await ask([30, 0])).decision, null)
    })

    test('count what was spent, even beyond the amount and without a reservation', async (t) => {
      const { ask, open, settle } = await setUp(t, budgetOf(100))
      const held = await ask(10)
      await settle(held, 70)
      const unreserved = open()
      await settle({ reservation: unreserved }, 50)
      assert.equal((await open().check())?.kind, 'exceeded')
      assert.deepEqual((await ask(1)).decision, exceeded(0, 0))
    })

    test('count what calls cost for which nothing was reserved, and take back their leases', async (t) => {
      const { ask, settle, setClock } = await setUp(t, budgetOf(100), budgetOf(100, { id: 'other' }))
      const held = await ask([0, 0])
      await settle(held, [70, 20])
      assert.deepEqual((await ask([31, 0])).decision, exceeded(0, 30))
      await ask([0, 50])
      for (const seconds of [10, 20, 30, 40, 50, 60, 70, 80]) {
        await setClock(NOON + seconds * 1_000)
        assert.equal((await ask([0, 0])).decision, null)
      }
      assert.equal((await ask([30, 80])).decision, null)
    })

    test('tell what is spent and reserved of each share in the current period', async (t) => {
      const { ask, settle, setClock, balances } = await setUp(t, budgetOf(100), budgetOf(100, { id: 'other' }))
      await ask([30, 5])
      await settle(await ask([20, 20]), [10, 0])
      assert.deepEqual(await balances(), [
        { used: 40, end: NOON + DAY / 2 },
        { used: 5, end: NOON + DAY / 2 },
      ])
      assert.deepEqual((await balances('nobody'))?.[0]?.used, 0)
      await setClock(NOON + DAY)
      await ask([1, 1])
      assert.deepEqual(await balances(), [
        { used: 1, end: NOON + DAY * 1.5 },
        { used: 1, end: NOON + DAY * 1.5 },
      ])
    })

    test('tell when nothing is left, and not before', async (t) => {
      const { ask, open } = await setUp(t, budgetOf(100))
      await ask(99)
      assert.equal(await open(1).check(), null)
      await ask(1)
      assert.deepEqual(await open(1).check(), exceeded(0, 0))
    })

    test('count numbers that no call can have as the largest amount', async (t) => {
      for (const spent of [1e300, Number.MAX_SAFE_INTEGER, 1.5, -5]) {
        const { ask, settle } = await setUp(t, budgetOf(MOST_AMOUNT - 1, { id: String(spent) }))
        const held = await ask(10)
        await settle(held, spent)
        await settle(await ask(1), 1)
        const { decision } = await ask(1)
        assert.equal(decision?.kind, spent > MOST_AMOUNT ? 'exceeded' : undefined, String(spent))
      }
    })

    test('begin anew with each period, and a clock that is set back begins no period twice', async (t) => {
      const { ask, setClock } = await setUp(t, budgetOf(100))
      assert.equal((await ask(100)).decision, null)
      assert.equal((await ask(1)).decision?.kind, 'exceeded')
      await setClock(NOON + DAY)
      assert.equal((await ask(100, { by: 1 })).decision, null)
      const { decision } = await ask(1)
      assert.ok(decision?.kind === 'exceeded')
      assert.deepEqual([decision.now, decision.end], [NOON + DAY, NOON + DAY * 1.5])
      await setClock(NOON)
      assert.equal((await ask(1)).decision?.kind, 'exceeded')
    })

    test('with a rolling period count what was spent in the last 24 hours, and in the hour before', async (t) => {
      const { ask, settle, setClock, balances } = await setUp(t, budgetOf(100, ROLLING))
      await settle(await ask(60), 50)
      await setClock(NOON + 3.5 * HOUR)
      await settle(await ask(30, { by: 1 }), 30)
      const { decision } = await ask(21)
      assert.ok(decision?.kind === 'exceeded')
      assert.deepEqual([decision.left, decision.now, decision.end], [20, NOON + 3.5 * HOUR, NOON + 25 * HOUR])
      await setClock(NOON + 25 * HOUR - 1)
      assert.equal((await ask(21)).decision?.kind, 'exceeded')
      assert.deepEqual(await balances(), [{ used: 80, end: NOON + 25 * HOUR }])
      await setClock(NOON + 25 * HOUR)
      assert.deepEqual(await balances(), [{ used: 30, end: NOON + 28 * HOUR }])
      const again = await ask(70, { by: 1 })
      assert.equal(again.decision, null)
      assert.equal((await ask(1)).decision?.kind, 'exceeded')
      await settle(again, 0)
      await setClock(NOON + 100 * HOUR)
      assert.equal((await ask(100)).decision, null)
    })

    test('with a rolling period keep reservations until their calls end, however long', async (t) => {
      const { ask, settle, pass } = await setUp(t, budgetOf(100, countedPeriod({ per: 'Hour', rolling: true })))
      const held = await ask(90)
      for (let minutes = 0; minutes < 70; minutes += 0.15) {
        await pass(9_000)
        held.reservation.renew()
      }
      assert.equal((await ask(11)).decision?.kind, 'exceeded')
      assert.equal(await held.reservation.reserve([95]), null)
      await settle(held, 40)
      assert.equal((await ask(61)).decision?.kind, 'exceeded')
      assert.equal((await ask(60)).decision, null)
    })

    test('with a rolling period never have more than their amount in any 24 hours', async (t) => {
      const { ask, settle, setClock } = await setUp(t, budgetOf(100, ROLLING))
      const step = fc.record({ amount: fc.nat({ max: 60 }), hours: fc.double({ min: 0, max: 12, noNaN: true }) })
      let [now, runs] = [NOON, 0]
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          const key = `run ${runs++}`
          const spent: { at: number; amount: number }[] = []
          const since = (from: number): number =>
            spent.reduce((sum, { at, amount }) => sum + (at > from ? amount : 0), 0)
          for (const { amount, hours } of steps) {
            now += Math.round(hours * HOUR)
            await setClock(now)
            const asked = await ask(amount, { key, by: amount % 2 })
            // Rolling budgets are exact except for the oldest hour, which may be partly outside the day.
            if (since(now - 25 * HOUR) + amount <= 100) assert.equal(asked.decision, null)
            if (since(now - 24 * HOUR) + amount > 100) assert.equal(asked.decision?.kind, 'exceeded')
            if (asked.decision !== null) continue
            await settle(asked, amount)
            spent.push({ at: now, amount })
          }
        }),
        { numRuns: 25 },
      )
    })

    test('for a lifetime never begin anew', async (t) => {
      const { ask, settle, setClock, balances } = await setUp(t, budgetOf(100, countedPeriod({ per: 'Lifetime' })))
      await settle(await ask(100), 90)
      await setClock(NOON + 3_650 * DAY)
      const { decision } = await ask(11)
      assert.ok(decision?.kind === 'exceeded')
      assert.deepEqual([decision.left, decision.end], [10, NEVER])
      assert.deepEqual(await balances(), [{ used: 90, end: NEVER }])
    })

    test('count a call in the period in which it began', async (t) => {
      const { ask, settle, setClock } = await setUp(t, budgetOf(100))
      const held = await ask(60)
      await setClock(NOON + DAY)
      assert.equal((await ask(90)).decision, null)
      assert.equal(await held.reservation.reserve([80]), null)
      await settle(held, 80)
      assert.equal((await ask(10)).decision, null)
    })

    test('take back the reservations of threads that died when their leases end', async (t) => {
      const { ask, open, pass } = await setUp(t, budgetOf(100))
      await ask(100)
      const living = open(1)
      await pass(LEASE_MS - 1)
      assert.equal((await living.check())?.kind, 'exceeded')
      await pass(2 * LEASE_MS)
      assert.equal(await living.check(), null)
      assert.equal((await ask(100, { by: 1 })).decision, null)
    })

    test('keep the reservations of long calls while they are renewed, and count them once', async (t) => {
      const { ask, pass, settle } = await setUp(t, budgetOf(100))
      const held = await ask(100)
      for (let turn = 0; turn < 10; turn++) {
        await pass(LEASE_MS / 3)
        held.reservation.renew()
        assert.equal((await ask(1, { by: 1 })).decision?.kind, 'exceeded')
      }
      await settle(held, 40)
      assert.equal((await ask(60, { by: 1 })).decision, null)
      assert.equal((await ask(1, { by: 1 })).decision?.kind, 'exceeded')
    })

    test('charge a call in full whose lease ran out while its thread was busy', async (t) => {
      const { ask, open, pass, settle } = await setUp(t, budgetOf(100))
      const late = await ask(100)
      await pass(3 * LEASE_MS)
      await open(1).check()
      const next = await ask(30, { by: 1 })
      assert.equal(next.decision, null)
      await settle(late, 50)
      const { decision } = await ask(21, { by: 1 })
      assert.ok(decision?.kind === 'exceeded')
      assert.equal(decision.left, 20)
      await settle(next, 10)
      assert.equal((await ask(40, { by: 1 })).decision, null)
    })

    test('never have more than their amount spent and reserved, whatever happens', async (t) => {
      const AMOUNT = 1_000
      const { ask, open, pass, settle } = await setUp(t, budgetOf(AMOUNT, countedPeriod({ per: 'Month' })))
      const number = fc.integer({ min: 0, max: AMOUNT / 2 })
      const step = fc.record({
        what: fc.constantFrom('reserve', 'reserve', 'move', 'settle', 'settle', 'die', 'pass'),
        ...{ amount: number, which: fc.nat({ max: 100 }), by: fc.nat({ max: 1 }) },
      })
      const used = async (key: string): Promise<number> => {
        const decision = await open(1, key).reserve([2 * AMOUNT])
        assert.ok(decision?.kind === 'exceeded')
        return AMOUNT - decision.left
      }
      let runs = 0
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 25 }), async (steps) => {
          const key = `run ${runs++}`
          let live: Awaited<ReturnType<typeof ask>>[] = []
          let [spent, dead] = [0, 0]
          const reserved = () => live.reduce((sum, { reservation }) => sum + (reservation.amounts[0] ?? 0), 0)
          for (const { what, amount, which, by } of steps) {
            const chosen = live[which % Math.max(1, live.length)]
            if (what === 'pass') {
              for (const { reservation } of live) reservation.renew()
              await pass(LEASE_MS / 6)
            } else if (what === 'reserve') {
              const asked = await ask(amount, { by, key })
              assert.equal(asked.decision === null, spent + dead + reserved() + amount <= AMOUNT)
              if (asked.decision === null) live.push(asked)
            } else if (chosen === undefined) continue
            else if (what === 'move') await chosen.reservation.reserve([amount])
            else {
              live = live.filter((other) => other !== chosen)
              const held = chosen.reservation.amounts[0] ?? 0
              if (what === 'die') {
                dead += held
                continue
              }
              spent += Math.min(amount, held)
              await settle(chosen, Math.min(amount, held))
            }
            assert.equal(await used(key), spent + dead + reserved())
            assert.ok(spent + dead + reserved() <= AMOUNT)
            // The leases of the dead end at some time after this.
            if (dead > 0) break
          }
          for (const asked of live) await settle(asked, 0)
          if (dead > 0) await pass(3 * LEASE_MS)
          await open(0, key).check()
          assert.equal(await used(key), spent)
        }),
        { numRuns: 25 },
      )
    })
  })

  async function setUp(t: TestContext, ...budgets: Budget[]) {
    const scene = await useScene(t)
    let now = NOON
    const setClock = async (to: number): Promise<void> => {
      now = to
      await scene.setClock(now)
    }
    await setClock(now)
    const stores = [scene.open(), scene.open(), scene.open()]
    // Each gateway has its own objects of the same config.
    const own = stores.map((store) => {
      const copies = budgets.map((budget) => ({ ...budget }))
      for (const budget of copies) assert.ok(store.prepare(budget))
      return copies
    })
    const open = (by = 0, key = 'all') =>
      stores[by]?.open((own[by] ?? []).map((budget) => ({ budget, key }))) ?? assert.fail('no such store')
    const balances = async (key = 'all') =>
      stores[0]?.balances((own[0] ?? []).map((budget) => ({ budget, key }))) ?? assert.fail('no such store')
    const ask = async (amount: number | number[], { by = 0, key = 'all' } = {}) => {
      const reservation = open(by, key)
      const amounts = typeof amount === 'number' ? budgets.map(() => amount) : amount
      return { reservation, decision: await reservation.reserve(amounts) }
    }
    const settle = async (
      { reservation }: Pick<Awaited<ReturnType<typeof ask>>, 'reservation'>,
      spent: number | number[],
    ) => {
      reservation.settle(typeof spent === 'number' ? [spent] : spent)
      await scene.settled()
    }
    /** Lets time pass while some gateway is busy: leases wait after a time in which nobody was seen. */
    const pass = async (ms: number) => {
      for (let left = ms; left > 0; left -= LEASE_MS / 3) {
        await setClock(now + Math.min(left, LEASE_MS / 3))
        await open(2, 'pulse').check()
      }
    }
    return { ask, open, settle, setClock, balances, pass, tooManyKeys: scene.tooManyKeys }
  }
}

function exceeded(index: number, left: number): BudgetDecision {
  return { kind: 'exceeded', index, left, now: NOON, end: NOON + DAY / 2 }
}
