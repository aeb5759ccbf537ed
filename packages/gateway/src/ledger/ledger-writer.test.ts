import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { SqliteStore } from '../stores/sqlite/sqlite-store.ts'
import type { LedgerEntry } from '../stores/store.ts'
import { entryOf } from '../stores/testing/store-contract.ts'
import { LedgerWriter, type WriterEvent } from './ledger-writer.ts'
import { Spool } from './spool.ts'

const ALL = { by: [], since: 0, until: Number.MAX_SAFE_INTEGER }

function useFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** A writer whose store fails while `isDown`. */
function createWriter(folder: string, maxBytes = 1_000_000, { retentionDays = 1_000, rollupDays = 1_000 } = {}) {
  const state = { isDown: false, now: Date.UTC(2026, 1, 1) }
  const events: WriterEvent[] = []
  const recovered: string[] = []
  const writer = new LedgerWriter({
    open: () => {
      const store = new SqliteStore(join(folder, 'ledger.db'))
      const check = (): void => {
        if (state.isDown) throw new Error('disk I/O error')
      }
      return {
        add: (entries) => (check(), store.add(entries)),
        usage: (query) => store.usage(query),
        removeBefore: (at, most) => (check(), store.removeBefore(at, most)),
        removeSumsBefore: (at, most) => (check(), store.removeSumsBefore(at, most)),
        close: () => store.close(),
      }
    },
    spool: new Spool(join(folder, 'ledger.spool'), maxBytes),
    retentionMs: retentionDays * 86_400_000,
    rollupRetentionMs: rollupDays * 86_400_000,
    now: () => state.now,
    report: (event) => events.push(event),
    recovered: (file) => recovered.push(file),
  })
  return { writer, state, events, recovered }
}

const batchOf = (...entries: LedgerEntry[]): string => JSON.stringify(entries)

describe('the writer of the ledger', () => {
  test('spools entries while the store fails, and stores them later', async (t) => {
    const { writer, state, events } = createWriter(useFolder(t))
    await writer.maintain()
    await writer.add(batchOf(entryOf('a')))
    state.isDown = true
    await writer.add(batchOf(entryOf('b'), entryOf('c')))
    await writer.maintain()
    await assert.rejects(writer.usage(ALL), /disk I\/O error/)
    assert.deepEqual(writer.counts, { stored: 1, spooled: 2, dropped: 0 })
    state.isDown = false
    await writer.maintain()
    assert.deepEqual(writer.counts, { stored: 3, spooled: 2, dropped: 0 })
    assert.equal((await writer.usage(ALL)).sums[0]?.calls, 3)
    assert.deepEqual(
      events.map(({ message }) => message),
      ['ledger store failed, entries are spooled', 'ledger spool delivered', 'ledger store works again'],
    )
    await writer.close()
  })

  test('delivers the spool of a process that was killed, and skips its unfinished line', async (t) => {
    const folder = useFolder(t)
    const spool = join(folder, 'ledger.spool')
    new Spool(spool, 1_000_000).keep(batchOf(entryOf('a')))
    appendFileSync(spool, '\n[{"id":"b","at"')
    new Spool(spool, 1_000_000).keep(batchOf(entryOf('c')))
    const { writer, events } = createWriter(folder)
    await writer.maintain()
    assert.equal((await writer.usage(ALL)).sums[0]?.calls, 2)
    assert.match(events[0]?.message ?? '', /unfinished line/)
    assert.ok(!existsSync(spool))
    await writer.close()
  })

  test('drops entries beyond the bound of the spool, and says so', async (t) => {
    const { writer, state, events } = createWriter(useFolder(t), 600)
    await writer.maintain()
    state.isDown = true
    for (const id of ['a', 'b', 'c']) await writer.add(batchOf(entryOf(id)))
    assert.deepEqual(writer.counts, { stored: 0, spooled: 1, dropped: 2 })
    assert.equal(events.filter(({ message }) => message === 'ledger entries are dropped').length, 1)
    await writer.close()
  })

  test('keeps entries in memory while the spool cannot be written either', async (t) => {
    const folder = useFolder(t)
    const { writer, state } = createWriter(folder)
    await writer.maintain()
    state.isDown = true
    mkdirSync(join(folder, 'ledger.spool'))
    await writer.add(batchOf(entryOf('a')))
    rmSync(join(folder, 'ledger.spool'), { recursive: true })
    state.isDown = false
    await writer.maintain()
    assert.equal((await writer.usage(ALL)).sums[0]?.calls, 1)
    await writer.close()
  })

  test('reports a damaged file, leaves it as it is, and goes on when it is replaced', async (t) => {
    const folder = useFolder(t)
    const damaged = 'damaged '.repeat(1_000)
    writeFileSync(join(folder, 'ledger.db'), damaged)
    const { writer, events } = createWriter(folder)
    await writer.maintain()
    await writer.add(batchOf(entryOf('a')))
    assert.deepEqual(events[0]?.fields, { error: 'file is not a database' })
    assert.equal(readFileSync(join(folder, 'ledger.db'), 'utf8'), damaged)
    rmSync(join(folder, 'ledger.db'))
    await writer.maintain()
    assert.equal((await writer.usage(ALL)).sums[0]?.calls, 1)
    await writer.close()
  })

  test('removes entries first, and sums after their own time', async (t) => {
    const { writer, state } = createWriter(useFolder(t), 1_000_000, { retentionDays: 1, rollupDays: 3 })
    await writer.maintain()
    await writer.add(batchOf(entryOf('a', { at: state.now })))
    const callsAfter = async (days: number): Promise<number> => {
      state.now += days * 86_400_000
      await writer.maintain()
      return (await writer.usage(ALL)).sums[0]?.calls ?? 0
    }
    assert.deepEqual([await callsAfter(2), await callsAfter(0.9), await callsAfter(1)], [1, 1, 0])
    await writer.close()
  })

  test('stores every entry once, whatever fails and whatever is delivered twice', async () => {
    const step = fc.oneof(
      fc.array(fc.record({ id: fc.nat(30), cost: fc.option(fc.nat(1e12)) }), { minLength: 1, maxLength: 5 }),
      fc.constantFrom('fail', 'recover', 'maintain', 'restart'),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const folder = mkdtempSync(join(tmpdir(), 'portico-'))
        try {
          let { writer, state } = createWriter(folder)
          const costs = new Map<number, number | null>()
          for (const each of steps) {
            if (each === 'restart') {
              await writer.close()
              ;({ writer, state } = createWriter(folder))
            } else if (each === 'maintain') await writer.maintain()
            else if (typeof each === 'string') state.isDown = each === 'fail'
            else {
              // An entry that is delivered again is the same.
              for (const { id, cost } of each) if (!costs.has(id)) costs.set(id, cost)
              await writer.add(
                batchOf(...each.map(({ id }) => entryOf(`${id}`, { nanoDollars: costs.get(id) ?? null }))),
              )
            }
          }
          state.isDown = false
          await writer.maintain()
          const [sums] = (await writer.usage(ALL)).sums
          await writer.close()
          const known = [...costs.values()].filter((cost) => cost !== null)
          assert.equal(sums?.calls ?? 0, costs.size)
          assert.equal(sums?.unpricedCalls ?? 0, costs.size - known.length)
          const total = known.reduce((sum, cost) => sum + BigInt(cost), 0n)
          assert.equal(sums?.nanoDollars ?? 0n, total)
        } finally {
          rmSync(folder, { recursive: true, force: true })
        }
      }),
      { numRuns: process.env['PROPERTIES'] === 'full' ? 200 : 10 },
    )
  })
})
