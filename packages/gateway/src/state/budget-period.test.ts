import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countedPeriod } from './budget-period.ts'

test('budgets with the same period share its calendar', () => {
  const berlin = { per: 'Month', timeZone: 'Europe/Berlin' } as const
  const { periodAt } = countedPeriod(berlin)
  assert.equal(countedPeriod({ ...berlin }).periodAt, periodAt)
  assert.notEqual(countedPeriod({ ...berlin, per: 'Week' }).periodAt, periodAt)
  assert.notEqual(countedPeriod({ ...berlin, timeZone: 'Asia/Kathmandu' }).periodAt, periodAt)
  const now = Date.parse('2026-11-19T12:00:00Z')
  assert.equal(new Date(periodAt(now).start).toISOString(), '2026-10-31T23:00:00.000Z')
  assert.equal(new Date(periodAt(now + 31 * 86_400_000).start).toISOString(), '2026-11-30T23:00:00.000Z')
})
