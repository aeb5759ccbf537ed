import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeKeyStore } from '../testing/key-store-contract.ts'
import { SqliteKeyStore } from './sqlite-key-store.ts'

describeKeyStore('SQLite', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return () => Promise.resolve(new SqliteKeyStore(join(folder, 'keys.db')))
})
