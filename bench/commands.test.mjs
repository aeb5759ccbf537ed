import assert from 'node:assert/strict'
import { test } from 'node:test'
import { commandNames, measureCommands, renderCommands } from './kinds/commands.mjs'

test('each command runs to its report, which has a row and a bar', async () => {
  const text = await measureCommands(commandNames, { rounds: 1, sizes: { routes: 3, tests: 12, records: 12 } })
  assert.match(text, /^\| 12 tests of a config with 3 routes \| [\d.]+ \|/m)
  assert.match(text, /^\| back-test of 12 records, 3 routes changed \| [\d.]+ \|/m)
  assert.equal(text.match(/≤ 2 s, [\d.]+ s: (met|MISSED)/g)?.length, 2)
})

test('the bar holds for the median', () => {
  const text = renderCommands([{ title: 'a', mostSeconds: 2, seconds: [0.5, 2.25, 3] }])
  assert.match(text, /\| a \| 2\.25 \| 0\.50 \| 3\.00 \|/)
  assert.match(text, /- a ≤ 2 s, 2\.25 s: MISSED/)
})
