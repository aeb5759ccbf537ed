import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import type { Env } from '../../../pipeline/context/step.ts'
import { createKeyedTable } from '../../../state/keyed-budgets.ts'
import { BudgetClaim } from './claim.ts'
import { BudgetLimit, LEASE_MS } from './limit.ts'

const config = { name: 'team', tokens: 100, per: 'Day', timeZone: 'UTC', maxKeys: 1 } as const

/** The same budget as two workers see it, on one clock. */
function useWorkers() {
  const time = { now: 1_000 }
  const tables = new Map<string, SharedArrayBuffer>()
  const keyed = (name: string, size: number): SharedArrayBuffer => {
    const table = tables.get(name) ?? createKeyedTable(size)
    tables.set(name, table)
    return table
  }
  const env = {
    ...{ attachment: 'route', random: Math.random, tables: { keyed } },
    ...{ clock: () => time.now, monotonic: () => time.now },
  } as unknown as Env
  const [dying, living] = [new BudgetLimit(config, env), new BudgetLimit(config, env)]
  const slot = living.slotOf({} as RequestContext) ?? assert.fail('no room')
  const claim = new BudgetClaim([{ limit: living, slot }], { outputTokens: 1, allowsUnpriced: false }, env.clock)
  return { time, dying, living, slot, claim }
}

test('reservations of a worker that died are given back when their leases end', () => {
  const { time, dying, living, slot, claim } = useWorkers()
  assert.ok(dying.reserve(slot, 100))
  assert.equal(living.reserve(slot, 100), null)
  assert.match(claim.exhausted()?.message ?? '', /team has 0 tokens of 100 tokens left/)
  time.now += LEASE_MS + 1
  assert.equal(claim.exhausted(), null)
  assert.ok(living.reserve(slot, 100))
})

test('reservations of long calls stay while their worker renews them, and count once', () => {
  const { time, dying: other, living, slot } = useWorkers()
  const reservation = living.reserve(slot, 100) ?? assert.fail('no room')
  for (let turn = 0; turn < 10; turn++) {
    time.now += LEASE_MS / 6
    living.renew(reservation)
    assert.equal(other.reserve(slot, 1), null)
  }
  living.settle(reservation, 40)
  assert.equal(living.left(slot), 60)
})

test('a call whose lease ran out while its worker was busy is charged in full', () => {
  const { time, dying: other, living, slot } = useWorkers()
  const reservation = living.reserve(slot, 100) ?? assert.fail('no room')
  time.now += LEASE_MS + 1
  const next = other.reserve(slot, 30) ?? assert.fail('the lease has ended')
  living.settle(reservation, 50)
  assert.equal(living.left(slot), 20)
  other.settle(next, 10)
  assert.equal(living.left(slot), 40)
})

test('a reservation that becomes smaller gives the difference back once, also when its lease ran out', () => {
  const { time, dying: other, living, slot } = useWorkers()
  const reservation = living.reserve(slot, 80) ?? assert.fail('no room')
  assert.ok(living.move(reservation, 30))
  assert.equal(other.left(slot), 70)
  time.now += LEASE_MS + 1
  const next = other.reserve(slot, 100) ?? assert.fail('the lease has ended')
  assert.ok(living.move(reservation, 10))
  assert.equal(other.left(slot), 0)
  living.settle(reservation, 10)
  other.settle(next, 20)
  assert.equal(other.left(slot), 70)
})
