import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import type { SettledLine } from '../../ledger/entry-lines.ts'
import { JournalControl } from '../../ledger/journal-control.ts'
import { createKeyedTable } from '../../state/keyed-budgets.ts'
import { PartTable, partTableId } from '../../state/part-table.ts'
import { SpendTable } from '../../state/spend-table.ts'
import type { Logger } from '../../telemetry/log/logger.ts'
import { BudgetJournal } from './budget-journal.ts'

const warnings: string[] = []
const log = { warn: (message: string) => warnings.push(message) } as unknown as Logger
const ID = '100 route/budget/team/usd/Day/UTC/'

function useFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'state')
}

function open(folder: string): BudgetJournal {
  const journal = BudgetJournal.open(folder, log)
  if (typeof journal === 'string') assert.fail(journal)
  return journal
}

const slotIn = (table: SpendTable, key: string) => table.slot(key) ?? assert.fail('no room')
const create = () => createKeyedTable(SpendTable.size(100))

describe('the file of budgets', () => {
  test('has what was spent, and not what was only reserved', (t) => {
    const folder = useFolder(t)
    const buffer = create()
    const table = new SpendTable(buffer, Math.random)
    table.charge(slotIn(table, 'a'), 7, 30)
    table.charge(slotIn(table, 'b'), 7, 4)
    const lease = table.open(1_000) ?? assert.fail('no lease')
    table.keep(lease, slotIn(table, 'a'), table.take(slotIn(table, 'a'), 7, 50, 100) ?? 0, 50)
    open(folder).close(new Map([[ID, buffer]]))

    const journal = open(folder)
    const again = create()
    journal.fill(ID, again)
    const restored = new SpendTable(again, Math.random)
    assert.deepEqual(
      ['a', 'b', 'c'].map((key) => restored.amount(slotIn(restored, key), 7)),
      [30, 4, 0],
    )
    assert.equal(restored.sweep(Infinity), 0)
    const tried = create()
    journal.fill(ID, tried)
    assert.deepEqual(new SpendTable(tried, Math.random).save(), restored.save(), 'the first config was rejected')
    const other = create()
    journal.fill('100 route/budget/other/usd/Day/UTC/', other)
    assert.equal(new SpendTable(other, Math.random).save().slots.length, 0)
    journal.close(new Map([[ID, again]]))
  })

  test('gets the costs of killed processes that it does not have, once', (t) => {
    const folder = useFolder(t)
    const buffer = create()
    const table = new SpendTable(buffer, Math.random)
    const slot = slotIn(table, 'a')
    table.charge(slot, 7, 30)
    open(folder).close(new Map([[ID, buffer]]))
    const settling = { journals: new Map<string, JournalControl>(), budgetsSaved() {} }
    const costs = (line: number, amount: number, period = 7): SettledLine => ({
      ...{ line, endedAt: 0 },
      settlements: [{ kind: 'memory', table: ID, slot, owner: table.owner(slot), period, amount, parts: null }],
    })
    const dead = { file: '', key: 'dead-1', settled: [costs(1, 4), costs(2, 5), costs(3, 100, 6)] }
    for (let restart = 0; restart < 2; restart++) {
      const journal = open(folder)
      assert.ok(journal.settle([dead], settling))
      const again = create()
      journal.fill(ID, again)
      const restored = new SpendTable(again, Math.random)
      assert.equal(restored.amount(slotIn(restored, 'a'), 7), 39, 'a period that is over stays as it is')
      journal.close(new Map([[ID, again]]))
    }
  })

  test('says which lines of journals it has, while workers go on', (t) => {
    const folder = useFolder(t)
    const buffer = create()
    const table = new SpendTable(buffer, Math.random)
    const slot = slotIn(table, 'a')
    const control = new JournalControl()
    let saved = 0
    const settling = { journals: new Map([['own-1', control]]), budgetsSaved: () => void saved++ }
    const journal = open(folder)
    journal.settle([], settling)
    control.enter()
    table.charge(slot, 7, 30)
    control.number()
    journal.save(new Map([[ID, buffer]]))
    assert.deepEqual([control.saved, saved], [0, 0], 'the call at hand is not finished')
    control.leave()
    journal.save(new Map([[ID, buffer]]))
    assert.deepEqual([control.saved, saved], [1, 1])
    const { journals } = JSON.parse(readFileSync(join(folder, 'budgets.json'), 'utf8')) as { journals: object }
    assert.deepEqual(journals, { 'own-1': 1 })
    journal.close(new Map([[ID, buffer]]))
  })

  test('has what was spent in each part of a rolling period', (t) => {
    const folder = useFolder(t)
    const create = () => createKeyedTable(PartTable.size(200))
    const buffer = create()
    const table = new PartTable(buffer)
    table.add(3, 1_000, 30)
    table.add(3, 1_004, 4)
    table.add(199, 1_004, 5)
    const id = partTableId(ID)
    open(folder).close(new Map([[id, buffer]]))

    const again = create()
    open(folder).fill(id, again)
    const restored = new PartTable(again)
    assert.deepEqual(restored.save(), table.save())
    assert.deepEqual(
      [3, 4, 199].map((slot) => restored.oldest(slot, 1_010)),
      [1_000, null, 1_004],
    )
    assert.deepEqual(
      [3, 4, 199].map((slot) => restored.expire(slot, 1_025)),
      [30, 0, 0],
    )
  })

  test('keeps tables that the config does not have at the moment', (t) => {
    const folder = useFolder(t)
    const buffer = create()
    const table = new SpendTable(buffer, Math.random)
    table.charge(slotIn(table, 'a'), 7, 30)
    open(folder).close(new Map([[ID, buffer]]))
    open(folder).close(new Map())
    assert.match(readFileSync(join(folder, 'budgets.json'), 'utf8'), /route\/budget\/team/)
  })

  test('keeps a gateway from starting when it is damaged or has another version', (t) => {
    const folder = useFolder(t)
    open(folder).close(new Map())
    const file = join(folder, 'budgets.json')
    for (const [text, problem] of [
      ['{"version":2,"tables":{}}', /budgets\.json has version 2, and this program knows version 1/],
      ['{"version":1', /budgets\.json cannot be read/],
      ['null', /has version undefined/],
    ] as const) {
      writeFileSync(file, text)
      const problemOrJournal = BudgetJournal.open(folder, log)
      assert.match(typeof problemOrJournal === 'string' ? problemOrJournal : 'opened', problem)
      assert.equal(readFileSync(file, 'utf8'), text)
    }
  })

  test('belongs to one process', (t) => {
    const folder = useFolder(t)
    open(folder).close(new Map())
    writeFileSync(join(folder, 'budgets.lock'), `${process.ppid}\n`)
    const lock = join(folder, 'budgets.lock')
    const problem = `the process ${process.ppid} uses the state folder ${folder} already; if it is no gateway, remove ${lock}`
    assert.equal(BudgetJournal.open(folder, log), problem)
    // A process that was killed leaves its lock behind.
    writeFileSync(join(folder, 'budgets.lock'), '999999999\n')
    open(folder).close(new Map())
    assert.ok(!existsSync(join(folder, 'budgets.lock')))
  })
})
