import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Text } from '@codemirror/state'
import { diagnosticsOf } from './editor-marks.ts'

test('marks stand at their words, and at the end where their lines are gone', () => {
  const document = Text.of(['binds:', '- prot: "a b"', ''])
  const mark = (line: number | null, column: number | null) =>
    diagnosticsOf(document, [{ line, column, text: 'a.yaml:2:3: binds[0]: wrong', severity: 'error' }]).map(
      ({ from, to, message }) => [document.sliceString(from, to), message],
    )
  assert.deepEqual(mark(2, 3), [['prot', 'binds[0]: wrong']])
  assert.deepEqual(mark(2, 9), [['"a b"', 'binds[0]: wrong']])
  assert.deepEqual(mark(99, 99), [['', 'binds[0]: wrong']])
  assert.deepEqual(mark(null, null), [])
})
