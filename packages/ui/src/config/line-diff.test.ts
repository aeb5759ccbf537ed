import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { diffLines, printDiff, shortDiff } from './line-diff.ts'

test('a diff has both texts in it, and as little else as can be', () => {
  const text = fc
    .array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 12 })
    .map((lines) => lines.map((line) => `${line}\n`).join(''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = diffLines(before, after)
      const of = (...kinds: string[]): string =>
        lines
          .filter(({ kind }) => kinds.includes(kind))
          .map((line) => `${line.text}\n`)
          .join('')
      assert.equal(of('same', 'dropped'), before)
      assert.equal(of('same', 'added'), after)
      if (before === after) assert.ok(lines.every(({ kind }) => kind === 'same'))
      for (const { kind, text: line, before: old, after: now } of lines) {
        if (kind !== 'added') assert.equal(before.split('\n')[(old ?? 0) - 1], line)
        if (kind !== 'dropped') assert.equal(after.split('\n')[(now ?? 0) - 1], line)
      }
    }),
  )
})

test('only what is near a change is shown', () => {
  const before = Array.from({ length: 20 }, (_, at) => `${at}\n`).join('')
  const shown = shortDiff(diffLines(before, before.replace('10\n', 'ten\n')), 1)
  assert.equal(printDiff(shown), '@@\n 9\n-10\n+ten\n 11\n@@\n')
  assert.deepEqual(shortDiff(diffLines(before, before)), [])
})
