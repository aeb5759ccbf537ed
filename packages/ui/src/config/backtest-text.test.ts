import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BacktestReport } from '@portico/gateway/admin-config'
import { backtestSentences } from './backtest-text.ts'

const REPORT: BacktestReport = {
  ...{ records: 5000, from: 0, until: 1, same: 5000, flipped: 0, unknown: 0, counts: {}, flips: [], unknowns: [] },
  ...{ remarks: [], isCut: false, milliseconds: 1200 },
}

test('the sentence has the requests that would be denied, and those that would be admitted', () => {
  assert.deepEqual(backtestSentences(REPORT), [
    'Of the last 5,000 requests 0 would be denied now; 0 would be admitted that were denied.',
  ])
  const counts = { 'newly-denied': 9, 'newly-limited': 3, 'newly-admitted': 1, 'route-moved': 2 }
  assert.deepEqual(backtestSentences({ ...REPORT, flipped: 15, counts }), [
    'Of the last 5,000 requests 12 would be denied now; 1 would be admitted that was denied.',
    '2 would change in another way.',
  ])
})

test('limits of the result are sentences of their own', () => {
  const remarks = ['limits and budgets count from the first record']
  assert.deepEqual(backtestSentences({ ...REPORT, records: 1, unknown: 1, isCut: true, remarks }), [
    'Of the last request 0 would be denied now; 0 would be admitted that were denied.',
    '1 cannot be decided, because the records lack what decides.',
    'The time was up before the newest requests were decided.',
    'Limits and budgets count from the first record.',
  ])
})
