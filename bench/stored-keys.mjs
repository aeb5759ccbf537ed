// Creates a store with many keys, and request paths that use each key in turn.
import { hash } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SqliteKeyStore } from '../packages/gateway/src/stores/sqlite/sqlite-key-store.ts'

const CREATED = '2026-01-01T00:00:00.000Z'
/** The query parameter with the key, because the load generator can vary the path only. */
export const KEY_PARAMETER = 'key'

/**
 * Writes keys with a limit and a budget that no load can spend.
 * @param {string} folder the state folder
 * @param {number} count
 */
export function writeKeys(folder, count) {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, 'keys.db')
  new SqliteKeyStore(file).close()
  const database = new DatabaseSync(file)
  // One transaction has all inserts, because each commit waits for the disk.
  database.exec('BEGIN')
  const insert = database.prepare("INSERT INTO keys (name, team, entry) VALUES (?, '', ?)")
  for (let number = 0; number < count; number++) {
    const name = `bot-${number}`
    const secrets = [{ hash: hash('sha256', secretOf(number)), prefix: 'pk_bench', created: CREATED }]
    const fields = {
      owner: `team-${number % 100}`,
      limits: [{ requests: 1_000_000 }],
    }
    insert.run(name, JSON.stringify({ id: `id${number}`, name, fields, secrets, created: CREATED, changed: CREATED }))
  }
  database.exec('COMMIT')
  database.close()
}

/**
 * Returns as many different paths for few keys as for many, because the gateway parses a repeated request faster.
 * @param {string} path
 * @param {number} count
 */
export function keyPaths(path, count) {
  return Array.from({ length: PATHS }, (_, call) => `${path}?call=${call}&${KEY_PARAMETER}=${secretOf(call % count)}`)
}

const PATHS = 100_000

function secretOf(number) {
  return `pk_bench_${String(number).padStart(34, '0')}`
}
