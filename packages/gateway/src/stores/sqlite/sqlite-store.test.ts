import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'
import { describeStore, entryOf } from '../testing/store-contract.ts'
import { SqliteStore } from './sqlite-store.ts'

function useFile(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'ledger.db')
}

describeStore('SQLite', (t) => {
  const file = useFile(t)
  return () => Promise.resolve(new SqliteStore(file))
})

describe('the file of the ledger', () => {
  test('with a newer schema is refused, and stays as it is', (t) => {
    const file = useFile(t)
    const database = new DatabaseSync(file)
    database.exec('PRAGMA user_version = 7')
    database.close()
    assert.throws(
      () => new SqliteStore(file),
      /ledger\.db has schema version 7, and this program knows versions up to 3/,
    )
    const again = new DatabaseSync(file)
    assert.equal(again.prepare('PRAGMA user_version').get()?.['user_version'], 7)
    assert.deepEqual(again.prepare('SELECT name FROM sqlite_schema').all(), [])
    again.close()
  })

  test('that is no database is refused, and stays as it is', (t) => {
    const file = useFile(t)
    writeFileSync(file, 'not a database, but long enough to have a header of one hundred bytes'.repeat(20))
    assert.throws(() => new SqliteStore(file), /file is not a database/)
  })

  test('is readable for its owner only', (t) => {
    const file = useFile(t)
    const store = new SqliteStore(file)
    store.add([entryOf('a')])
    const modes = readdirSync(dirname(file)).map((name) => statSync(join(dirname(file), name)).mode & 0o777)
    assert.deepEqual(modes, [0o600, 0o600, 0o600])
    store.close()
  })

  test('gets the sums of its entries when it is older than the sums', (t) => {
    const file = useFile(t)
    const first = new SqliteStore(file)
    const costs = [1, 2_999_999_999, null]
    first.add(costs.map((nanoDollars, i) => entryOf(`${i}`, { nanoDollars, at: i * 3_600_000, inputTokens: null })))
    const query = { by: ['hour', 'model'], since: 0, until: Number.MAX_SAFE_INTEGER }
    const before = first.usage(query)
    first.close()
    const database = new DatabaseSync(file)
    for (const column of ['cache', 'saved_nano_dollars']) database.exec(`ALTER TABLE ledger DROP COLUMN ${column}`)
    database.exec('DROP TABLE usage_hours; DROP TABLE ledger_state; PRAGMA user_version = 1')
    database.close()
    const second = new SqliteStore(file)
    assert.deepEqual(second.usage(query), before)
    assert.equal(before.sums.length, 3)
    // Older programs have spooled entries without the fields of the response cache.
    const { cache: _cache, savedNanoDollars: _saved, ...older } = entryOf('older', { at: 0 })
    assert.equal(second.add([older as ReturnType<typeof entryOf>]), 1)
    assert.equal(second.usage({ ...query, by: ['cache'] }).sums[0]?.calls, 4)
    assert.deepEqual([second.removeBefore(1e9, 10), second.usage({ ...query, by: ['hour'] }).sums.length], [4, 3])
    second.close()
  })

  test('is migrated once by programs that open it together', (t) => {
    const file = useFile(t)
    const stores = [new SqliteStore(file), new SqliteStore(file)]
    assert.deepEqual(
      stores.map((store) => store.add([entryOf('a')])),
      [1, 0],
    )
    for (const store of stores) store.close()
  })
})
