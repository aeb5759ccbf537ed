import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Reservations } from './reservations.ts'
import { createTable, SharedTable } from './shared-table.ts'

const HOUR = 3_600_000
const SLOTS = 8

function setUp() {
  const buffer = createTable(SLOTS)
  const time = { now: 100 * HOUR }
  const main = new Reservations(new SharedTable(buffer), () => time.now)
  const worker = new SharedTable(buffer)
  /** Reserves `count` keys and uses them, like a config with that many limits. */
  function reserve(name: string, count: number): boolean {
    const all = Array.from({ length: count }, (_, index) => main.cells(`${name} ${index}`))
    for (const cells of all) cells?.use(time.now)
    return all.every((cells) => cells !== null)
  }
  return { main, worker, time, reserve }
}

test('a config with more keys than there is room for is told so', () => {
  const { reserve, main } = setUp()
  assert.equal(reserve('a', SLOTS), true)
  main.drop()
  assert.equal(reserve('b', 1), false)
})

test('keys that were not used for a day make room, and begin anew when they come back', () => {
  const { main, worker, time, reserve } = setUp()
  reserve('old', SLOTS)
  main.keep()
  const held = worker.cells('old 3')!
  Atomics.store(held.use(time.now), 0, 42n)
  reserve('new', 0)
  main.keep()

  time.now += 23 * HOUR
  assert.equal(reserve('new', SLOTS), false)
  main.drop()
  time.now += 2 * HOUR
  assert.equal(reserve('new', SLOTS), true)
  main.keep()
  for (let i = 0; i < SLOTS; i++) assert.deepEqual([...new Set(worker.cells(`new ${i}`)!.use(time.now))], [0n])
  // A worker that still holds an old key must not write into a slot of another key.
  assert.throws(() => held.use(time.now), /full/)
})

test('a key in use is kept, whoever uses it', () => {
  const { main, worker, time, reserve } = setUp()
  reserve('old', SLOTS)
  main.drop()
  const held = worker.cells('old 3')!
  Atomics.store(held.use(time.now), 0, 42n)
  time.now += 23 * HOUR
  held.use(time.now)
  time.now += 23 * HOUR
  assert.equal(reserve('new', SLOTS), false)
  assert.equal(reserve('new', SLOTS - 1), true)
  assert.equal(held.use(time.now)[0], 42n)
})

test('keys of the live config are kept, even if they were never used', () => {
  const { main, worker, time, reserve } = setUp()
  for (let i = 0; i < SLOTS; i++) assert.notEqual(main.cells(`live ${i}`), null)
  main.keep()
  time.now += 1000 * HOUR
  assert.equal(reserve('new', 1), false)
  main.drop()
  time.now += 1000 * HOUR
  assert.equal(reserve('new', 1), false)
  main.drop()
  assert.equal(worker.cells('live 3')!.use(time.now)[0], 0n)
})

test('a slot that was claimed and never used has its day from when that was noticed', () => {
  const { worker, time, reserve } = setUp()
  for (let i = 0; i < SLOTS; i++) worker.cells(`unused ${i}`)
  assert.equal(reserve('new', 1), false)
  time.now += 25 * HOUR
  assert.equal(reserve('new', SLOTS), true)
})

test('a holder whose slot was handed over begins anew in another', () => {
  const table = new SharedTable(createTable(SLOTS))
  const held = table.cells('held')!
  Atomics.store(held.use(0), 0, 42n)
  const slot = held.slot
  const next = table.path('next')
  assert.equal(
    table.reuse(next, 23 * HOUR, () => false),
    null,
  )
  assert.equal(
    table.reuse(next, 25 * HOUR, () => true),
    null,
  )
  assert.equal(
    table.reuse(next, 25 * HOUR, () => false),
    slot,
  )
  assert.equal(held.use(25 * HOUR)[0], 0n)
  assert.notEqual(held.slot, slot)
})

test('unneeded slots may stay reserved after a partial reload, and not after a full reload', () => {
  const { main } = setUp()
  main.cells('one')
  main.keep()
  assert.equal(main.isLoose, false)
  main.cells('two')
  main.keepAlso()
  assert.equal(main.isLoose, true)
  main.cells('three')
  main.drop()
  assert.equal(main.isLoose, true)
  main.cells('one')
  main.keep()
  assert.equal(main.isLoose, false)
})
