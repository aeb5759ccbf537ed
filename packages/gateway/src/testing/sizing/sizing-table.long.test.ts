import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { FULL_SIZE, sizingTable } from './sizing-table.ts'

test('the page about sizes has the outcome of the whole simulation', async () => {
  const page = readFileSync(new URL('../../../../../docs/sizing.md', import.meta.url), 'utf8')
  const table = await sizingTable(FULL_SIZE)
  assert.ok(page.includes(`\n${table}\n`), `docs/sizing.md needs this table:\n${table}`)
})
