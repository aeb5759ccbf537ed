import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNames, idOf, partsOf } from './record-id.ts'

test('every record has a name of its own, which does not tell its number', () => {
  const names = createNames()
  const ids = Array.from({ length: 20_000 }, (_, serial) => idOf(names, serial))
  assert.equal(new Set(ids).size, ids.length)
  for (const id of ids) assert.match(id, /^[0-9a-z]{15}$/)
  const sorted = ids.slice(0, 100).toSorted()
  assert.notDeepEqual(sorted, ids.slice(0, 100))
  assert.notEqual(createNames().prefix, names.prefix)
})

test('a name has the prefix of its ring, and nothing else is one', () => {
  const names = createNames()
  assert.equal(partsOf(idOf(names, 7))?.prefix, names.prefix)
  for (const text of ['', 'abc', '../../etc/passwd', 'u'.repeat(15), `${names.prefix}0000000x`]) {
    assert.equal(partsOf(text), null)
  }
})
