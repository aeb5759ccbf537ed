import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import type { Settlement } from '../stores/budgets/settlement.ts'
import { entryOf } from '../stores/testing/store-contract.ts'
import { journalLine, readLines } from './entry-lines.ts'

const memory: Settlement = {
  ...{ kind: 'memory', table: '100 route/budget/a', slot: 3, owner: '18446744073709551615', period: 20_000 },
  ...{ amount: 5, parts: { table: '100 route/budget/a (parts)', part: 7 } },
}
const redis: Settlement = { kind: 'redis', keys: ['portico:done:a'], values: ['a', '0'] }
const lineOf = (id: string, settlements: readonly Settlement[] = [], line = 0): string =>
  journalLine(JSON.stringify(entryOf(id)), settlements.length === 0 ? null : { line, settlements })

describe('the lines of a journal', () => {
  test('have the entries and the costs that were written', () => {
    const { entries, settled, unreadable } = readLines(lineOf('a') + lineOf('b', [memory, redis], 9))
    assert.deepEqual(entries, [entryOf('a'), entryOf('b')])
    const { at, totalMs } = entryOf('b')
    assert.deepEqual(settled, [{ line: 9, settlements: [memory, redis], endedAt: at + totalMs }])
    assert.equal(unreadable, 0)
  })

  test('that are no entries are skipped, so that no store has to reject them', () => {
    const wrong = [
      ...['{', '1', 'null', '{}', '[1]', '[null]', '[[]]', '[{}]', 'x'.repeat(100_000), '\u0000', '[{"id":"a"}]'],
      ...Object.keys(entryOf('a')).map((field) => JSON.stringify([{ ...entryOf('a'), [field]: [] }])),
      ...['inputTokens', 'status', 'at'].map((field) => JSON.stringify([{ ...entryOf('a'), [field]: 1.5 }])),
      // The costs of a call follow its entry.
      JSON.stringify([{ line: 1, settlements: [memory] }]),
    ]
    for (const line of wrong) {
      const { entries, settled, unreadable } = readLines(`${line}\n${lineOf('b')}`)
      assert.deepEqual([entries.map(({ id }) => id), settled, unreadable], [['b'], [], 1], line.slice(0, 200))
    }
    for (const settlement of [{ ...memory, slot: -1 }, { ...memory, owner: 'x' }, { ...redis, keys: [1] }, null]) {
      const line = `\n[${JSON.stringify(entryOf('a'))},${JSON.stringify({ line: 1, settlements: [settlement] })}]\n`
      const { entries, settled, unreadable } = readLines(line)
      assert.deepEqual([entries.length, settled, unreadable], [1, [], 1])
    }
  })

  test('get the fields that older versions did not write', () => {
    const { cache: _cache, savedNanoDollars: _saved, ...older } = entryOf('a')
    assert.deepEqual(readLines(`\n[${JSON.stringify(older)}]\n`).entries, [entryOf('a')])
  })

  test('are read up to the byte at which a process was killed, and after it', () => {
    const call = fc.record({ id: fc.string({ minLength: 1, unit: 'grapheme' }), isSettled: fc.boolean() })
    fc.assert(
      fc.property(fc.array(call, { maxLength: 5 }), fc.nat(), fc.string(), (calls, cut, noise) => {
        const lines = calls.map(({ id, isSettled }, i) => lineOf(id, isSettled ? [memory] : [], i + 1))
        const bytes = Buffer.from(lines.join(''))
        const at = cut % (bytes.length + 1)
        let end = 0
        const whole = lines.filter((line) => (end += Buffer.byteLength(line)) - 1 <= at).length
        const ids = calls.map(({ id }) => id)
        const torn = bytes.subarray(0, at).toString('utf8')
        const { entries, unreadable } = readLines(torn + lineOf('next'))
        assert.deepEqual(
          entries.map(({ id }) => id),
          [...ids.slice(0, whole), 'next'],
        )
        assert.ok(unreadable <= 1)
        // Nothing that stands in the file makes the reader throw, or invent entries.
        const added = readLines(`${noise}\n${torn}`).entries.length
        assert.ok(added === whole || added === whole + readLines(noise).entries.length)
      }),
      { numRuns: process.env['PROPERTIES'] === 'full' ? 2_000 : 100 },
    )
  })
})
