import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { cutMiddle } from './cut.ts'
import { formatBytes, formatCount, formatRate, formatShare, formatTook } from './numbers.ts'
import { shellWord } from './shell.ts'
import { formatAgo, formatMoment } from './times.ts'

test('times of requests have a unit that fits', () => {
  const shown = [40, 412, 2412, 23_400, 1_240_000, 14_200_000, 75_000_000, 119_900_000].map(formatTook)
  assert.deepEqual(shown, ['0.04 ms', '0.4 ms', '2.4 ms', '23 ms', '1.24 s', '14.2 s', '1 min 15 s', '2 min 0 s'])
})

test('sizes, counts, rates and shares', () => {
  assert.deepEqual([0, 1023, 1024, 20_480, 5_242_880].map(formatBytes), [
    '0 B',
    '1023 B',
    '1.0 KiB',
    '20 KiB',
    '5.0 MiB',
  ])
  assert.equal(formatCount(1_204_000), '1,204,000')
  assert.deepEqual([0, 0.04, 1.25, 12.4, 1240].map(formatRate), ['0/s', '0.04/s', '1.3/s', '12/s', '1.2k/s'])
  assert.deepEqual([0, 0.004, 0.5, 1].map(formatShare), ['0 %', '0.4 %', '50 %', '100 %'])
})

test('times are relative', () => {
  const now = 1_000_000_000
  const ago = [0, 5, 61, 7_300, 200_000].map((seconds) => formatAgo(now - seconds * 1000, now))
  assert.deepEqual(ago, ['now', '5 s ago', '1 min ago', '2 h ago', '2 d ago'])
  assert.match(formatMoment(now), /^1970-01-\d\d \d\d:\d\d:40\.000$/)
})

test('a long text keeps both of its ends', () => {
  assert.equal(cutMiddle('/v1/chat/completions', 40), '/v1/chat/completions')
  assert.equal(cutMiddle('abcdefghij', 5), 'ab…ij')
  fc.assert(
    fc.property(fc.string(), fc.integer({ min: 3, max: 40 }), (text, most) => cutMiddle(text, most).length <= most),
  )
})

test('a text for a shell is one word, whatever a client has sent', () => {
  for (const text of ['/plain', "it's", '$(reboot)', '`id`', 'a b', '', '"', '\\', 'a\nb', '!x', '*'])
    assert.equal(execFileSync('sh', ['-c', `printf %s ${shellWord(text)}`], { encoding: 'utf8' }), text)
})
