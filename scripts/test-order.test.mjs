import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { keepSeconds, keptSeconds, longestFirst } from './test-order.mjs'

const namesOf = (groups) => groups.map(({ name }) => name)
const groups = [
  { name: 'small', files: ['a'] },
  { name: 'large', files: ['b', 'c', 'd'] },
  { name: 'other', files: ['e', 'f', 'g'] },
]

test('without an earlier run, the groups with most files go first, the others in order', () => {
  assert.deepEqual(namesOf(longestFirst(groups, {})), ['large', 'other', 'small'])
})

test('groups that took long last time go before those with many files', () => {
  assert.deepEqual(namesOf(longestFirst(groups, { small: 40, other: 2.5 })), ['small', 'large', 'other'])
})

test('times are kept from one run to the next', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'portico-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'not/there/yet.json')
  assert.deepEqual(keptSeconds(file), {})
  keepSeconds(file, { small: 1.5, large: 30 })
  assert.deepEqual(keptSeconds(file), { small: 1.5, large: 30 })
  for (const text of ['{"small": 1', 'null', '7', '{"small": "long", "large": null}']) {
    writeFileSync(file, text)
    assert.deepEqual(keptSeconds(file), {}, text)
  }
})
