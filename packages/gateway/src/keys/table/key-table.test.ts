import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { createKeyTable, KEY, KeyTable, LOADING, OPEN, TEAM } from './key-table.ts'
import { KeyTableWriter } from './key-table-writer.ts'

const digestOf = (name: string) => hash('sha256', name, 'buffer')
const hexOf = (name: string) => hash('sha256', name)

function useTable(entries: number) {
  const buffer = createKeyTable(entries)
  const writer = new KeyTableWriter(buffer, entries, OPEN)
  const table = new KeyTable(buffer)
  const read = (name: string, kind: typeof KEY | typeof TEAM = KEY): string | null => {
    const found = table.find(kind, digestOf(name))
    return found === null ? null : table.read(found)
  }
  return { buffer, writer, table, read }
}

test('workers read what was written, whatever came before', () => {
  const command = fc.record({
    name: fc.integer({ min: 0, max: 30 }).map(String),
    details: fc.option(fc.string({ maxLength: 60 })),
  })
  fc.assert(
    fc.property(fc.array(command, { maxLength: 200 }), (commands) => {
      const { writer, read } = useTable(20)
      const model = new Map<string, string>()
      for (const { name, details } of commands) {
        if (details === null) {
          writer.remove(KEY, hexOf(name))
          model.delete(name)
        } else if (writer.put(KEY, hexOf(name), details)) model.set(name, details)
        else assert.equal(model.size, 20, 'only a full table refuses')
      }
      assert.equal(writer.count, model.size)
      for (let name = 0; name <= 30; name++) assert.equal(read(String(name)), model.get(String(name)) ?? null)
    }),
    { numRuns: 100 },
  )
})

test('a key that changes is another entry, and an old one cannot be read any more', () => {
  const { writer, table, read } = useTable(10)
  writer.put(KEY, hexOf('a'), 'first')
  const first = table.find(KEY, digestOf('a')) ?? assert.fail('not found')
  writer.put(KEY, hexOf('a'), 'second')
  assert.deepEqual([table.read(first), read('a')], [null, 'second'])
  const second = table.find(KEY, digestOf('a')) ?? assert.fail('not found')
  writer.remove(KEY, hexOf('a'))
  writer.put(KEY, hexOf('b'), 'other')
  assert.deepEqual([table.read(second), read('a'), read('b')], [null, null, 'other'])
})

test('the text of a team is no key', () => {
  const { writer, read } = useTable(10)
  writer.put(TEAM, hexOf('team support'), '{}')
  assert.deepEqual([read('team support', KEY), read('team support', TEAM)], [null, '{}'])
})

test('a writer that takes over empties the table, also of a change that was left half done', () => {
  const { buffer, writer, table, read } = useTable(10)
  writer.put(KEY, hexOf('a'), 'first')
  const found = table.find(KEY, digestOf('a')) ?? assert.fail('not found')
  // The version of the slot, odd as during a change.
  Atomics.add(new Int32Array(buffer), 16 + found.slot * 12 + 8, 1)
  assert.equal(read('a'), null)
  const next = new KeyTableWriter(buffer, 10, LOADING)
  assert.deepEqual([table.state, next.count, read('a')], [LOADING, 0, null])
  next.put(KEY, hexOf('a'), 'again')
  assert.deepEqual([read('a'), table.read(found)], ['again', null])
})

test('a key takes less than 200 bytes', () => {
  const { writer, read } = useTable(2_000)
  const details = (number: number) => JSON.stringify({ id: 'abcdefgh', name: `support-bot-${number}`, team: 'support' })
  for (let number = 0; number < 2_000; number++) assert.ok(writer.put(KEY, hexOf(String(number)), details(number)))
  assert.equal(writer.put(KEY, hexOf('one more'), '{}'), false)
  assert.equal(read('1999'), details(1_999))
  const slots = (2_000 * 1.6 + 64) * 48
  const blocks = 2_000 * Math.ceil(details(1_999).length / 16) * 16
  assert.ok((slots + blocks) / 2_000 < 200, String((slots + blocks) / 2_000))
})
