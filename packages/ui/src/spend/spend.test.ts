import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { UsageGroup } from '@portico/gateway/admin-api'
import { forecastOf, forecastSince } from './forecast.ts'
import { readNanoDollars, spendingText } from './money.ts'
import { printCsv } from './print-report.ts'
import { groupsIn, readSpendSearch, toggleGroup } from './search.ts'
import { bucketsOf, DAY, heightOf, HOUR, printTime, sinceOf, type TimeBucket } from './time-buckets.ts'

const GROUP: UsageGroup = {
  ...{ group: {}, calls: 1, unpricedCalls: 0, estimatedCalls: 0, cachedCalls: 0, inputTokens: 10, outputTokens: 5 },
  ...{ cacheReadTokens: 0, cacheWriteTokens: 0, reasoningTokens: 0, costUsd: '1.50', savedUsd: '0.00' },
}
const UNPRICED = { unpricedCalls: 1, costUsd: null }

describe('an amount', () => {
  test('is read exactly, whatever its digits', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 24n), fc.nat(7), (nanoDollars, zeros) => {
        const digits = nanoDollars.toString().padStart(10, '0')
        const fraction = digits.slice(-9).replace(new RegExp(`0{0,${zeros}}$`), '')
        assert.equal(readNanoDollars(`${digits.slice(0, -9)}.${fraction}`), nanoDollars)
      }),
    )
    assert.equal(readNanoDollars('12'), 12_000_000_000n)
  })

  test('says whether it is exact, estimated, incomplete or unknown', () => {
    const texts = [
      {},
      { estimatedCalls: 1 },
      { unpricedCalls: 1 },
      { nanoDollars: null },
      { calls: 0, nanoDollars: null },
    ]
    const base = { calls: 2, unpricedCalls: 0, estimatedCalls: 0, nanoDollars: 1_500_000_000n }
    assert.deepEqual(
      texts.map((fields) => spendingText({ ...base, ...fields })),
      ['$1.50', '≈ $1.50', '≥ $1.50', 'unknown', '$0'],
    )
  })
})

describe('buckets of time', () => {
  const now = Date.UTC(2026, 10, 18, 19, 46)

  test('begin with whole days, and fill the days without calls', () => {
    const since = sinceOf('7d', now)
    assert.equal(printTime(since, 'day'), '2026-11-12')
    const groups = [
      { ...GROUP, group: { day: '2026-11-18' } },
      { ...GROUP, group: { day: '2026-11-13' }, ...UNPRICED },
    ]
    const buckets = bucketsOf(groups, 'day', since, now)
    assert.deepEqual(
      buckets.map((bucket) => heightOf(bucket, 'cost')),
      [0, null, 0, 0, 0, 0, 1.5e9],
    )
    assert.deepEqual(
      buckets.map((bucket) => heightOf(bucket, 'tokens')),
      [0, 15, 0, 0, 0, 0, 15],
    )
  })

  test('are hours for a day', () => {
    const since = sinceOf('24h', now)
    const buckets = bucketsOf([{ ...GROUP, group: { hour: '2026-11-18T19:00Z' } }], 'hour', since, now)
    assert.deepEqual([buckets.length, buckets.at(-1)?.calls], [24, 1])
    assert.equal(printTime(buckets[0]?.start ?? 0, 'hour'), '2026-11-17 20:00')
  })
})

describe('a forecast', () => {
  const hoursOf = (now: number, costOf: (start: number) => Partial<TimeBucket>): TimeBucket[] =>
    bucketsOf([], 'hour', forecastSince(now), now + 1).map((hour) => ({ ...hour, ...costOf(hour.start) }))

  test('is the cost of the whole period while the cost is steady', () => {
    const period = fc.constantFrom('month', 'week', 'day')
    fc.assert(
      fc.property(
        period,
        fc.integer({ min: 20_000, max: 21_000 }),
        fc.nat(23),
        fc.nat(1e9),
        (name, day, hour, cost) => {
          // At the end of an hour, the current hour is as complete as the others.
          const now = day * DAY + (hour + 1) * HOUR - 1
          const hours = hoursOf(now, () => ({ calls: 1, nanoDollars: BigInt(cost) * 1_000n }))
          const { start, end, spent, expected } = forecastOf(hours, name, now)
          assert.ok(start <= now && now < end)
          const whole = Number((BigInt(end - start) * BigInt(cost) * 1_000n) / BigInt(HOUR))
          assert.ok(Math.abs(Number(expected ?? 0n) - whole) <= whole * 1e-5 + 1)
          assert.ok((expected ?? 0n) >= spent)
        },
      ),
    )
  })

  test('has the bounds of the calendar', () => {
    const bounds = (at: string, period: 'month' | 'week') => {
      const { start, end } = forecastOf([], period, Date.parse(at))
      return [printTime(start, 'day'), printTime(end, 'day')]
    }
    assert.deepEqual(bounds('2026-12-31T23:59:59Z', 'month'), ['2026-12-01', '2027-01-01'])
    assert.deepEqual(bounds('2028-02-29T00:00:00Z', 'month'), ['2028-02-01', '2028-03-01'])
    assert.deepEqual(bounds('2026-11-15T12:00:00Z', 'week'), ['2026-11-09', '2026-11-16'])
    assert.deepEqual(bounds('2026-11-16T00:00:00Z', 'week'), ['2026-11-16', '2026-11-23'])
  })

  test('needs calls of a day, and counts unknown costs apart', () => {
    const now = Date.UTC(2026, 10, 18, 12)
    const first = hoursOf(now, (start) => (start < now - 20 * HOUR ? {} : { calls: 1, nanoDollars: 5n }))
    assert.deepEqual(forecastOf(first, 'month', now).expected, null)
    const unknown = hoursOf(now, () => ({ calls: 2, unpricedCalls: 2, nanoDollars: null }))
    const { spent, unpricedCalls, expected } = forecastOf(unknown, 'day', now)
    assert.deepEqual([spent, unpricedCalls, expected], [0n, 26, 0n])
  })
})

describe('the address of the page', () => {
  test('has valid values only, and no defaults', () => {
    assert.deepEqual(readSpendSearch({ last: '7d', per: 'key,model,key,color', show: 'calls', period: 'week' }), {
      ...{ last: '7d', per: 'key,model', show: 'calls', period: 'week' },
    })
    assert.deepEqual(readSpendSearch({ last: '30d', per: 'model', show: 'constructor', period: 7, by: 'x' }), {})
    assert.deepEqual(groupsIn('team,__proto__'), ['team'])
  })

  test('keeps one group at least', () => {
    assert.deepEqual(toggleGroup(['model'], 'key'), ['model', 'key'])
    assert.deepEqual(toggleGroup(['model', 'key'], 'model'), ['key'])
    assert.deepEqual(toggleGroup(['key'], 'key'), ['key'])
  })
})

test('CSV has unknown costs as empty fields, and no formulas', () => {
  const by = ['requestedModel']
  const groups = [
    { ...GROUP, group: { requestedModel: '=HYPERLINK("x")' } },
    { ...GROUP, group: { requestedModel: 'a,b' }, ...UNPRICED },
  ]
  assert.equal(
    printCsv({ by, since: 0, until: 1, isCut: false, groups }),
    `requestedModel,calls,unpriced,estimated,cached,input,cacheRead,cacheWrite,output,reasoning,usd,savedUsd
"'=HYPERLINK(""x"")",1,0,0,0,10,0,0,5,0,1.50,0.00
"a,b",1,1,0,0,10,0,0,5,0,,0.00
`,
  )
})
