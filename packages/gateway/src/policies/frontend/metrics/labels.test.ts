import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CelError, Double, Uint } from '@portico/cel'
import { labelValue, metricLabels } from './labels.ts'

test('labels are texts, numbers and truth values, and everything else is unknown', () => {
  for (const [result, label] of [
    ['text', 'text'],
    [5, '5'],
    [1.5, '1.5'],
    [2n ** 60n, String(2n ** 60n)],
    [new Uint(7n), '7'],
    [new Double(2), '2'],
    [true, 'true'],
    [false, 'false'],
    ['', 'unknown'],
    [null, 'unknown'],
    [new CelError('failed', 'x'), 'unknown'],
    [[1], 'unknown'],
  ] as const) {
    assert.equal(labelValue(result), label)
  }
})

test('a config without labels adds none', () => {
  assert.equal(metricLabels(undefined), null)
})
