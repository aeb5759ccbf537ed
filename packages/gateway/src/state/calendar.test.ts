import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { createCalendar } from './calendar.ts'

const UNITS = ['Hour', 'Day', 'Week', 'Month'] as const
const ZONES = [
  'UTC',
  'Europe/Berlin',
  'America/Sao_Paulo',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
  'Pacific/Apia',
] as const
const moments = fc.integer({ min: Date.parse('2005-01-01'), max: Date.parse('2040-01-01') })

test('a period ends where the next one begins, whose number is one more', () => {
  fc.assert(
    fc.property(fc.constantFrom(...UNITS), fc.constantFrom(...ZONES), moments, (unit, zone, now) => {
      const periodAt = createCalendar(unit, zone)
      const { number, end } = periodAt(now)
      assert.ok(end > now)
      assert.equal(periodAt(end - 1).number, number)
      const next = periodAt(end).number
      // Apia had no 30 December 2011.
      assert.ok(next === number + 1 || (zone === 'Pacific/Apia' && next === number + 2), `${number} ${next}`)
      assert.equal(createCalendar(unit, zone)(now).end, end, 'independent of earlier moments')
    }),
    { numRuns: 200 },
  )
})

test('periods begin at midnight of the time zone, also when clocks change', () => {
  for (const [unit, zone, now, end] of [
    ['Hour', 'UTC', '2026-11-18T16:04:00Z', '2026-11-18T17:00:00Z'],
    ['Day', 'UTC', '2026-11-18T16:04:00Z', '2026-11-19T00:00:00Z'],
    ['Day', 'Europe/Berlin', '2026-11-18T23:30:00Z', '2026-11-19T23:00:00Z'],
    ['Day', 'Europe/Berlin', '2026-03-28T23:30:00Z', '2026-03-29T22:00:00Z'],
    ['Day', 'Europe/Berlin', '2026-10-24T22:30:00Z', '2026-10-25T23:00:00Z'],
    ['Week', 'UTC', '2026-11-18T16:04:00Z', '2026-11-23T00:00:00Z'],
    ['Month', 'America/New_York', '2026-12-15T12:00:00Z', '2027-01-01T05:00:00Z'],
  ] as const)
    assert.equal(new Date(createCalendar(unit, zone)(Date.parse(now)).end).toISOString(), end.replace('Z', '.000Z'))
})
