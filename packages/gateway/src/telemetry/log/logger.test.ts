import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseLogFilter } from './log-filter.ts'
import { createLogger } from './logger.ts'
import type { LogFormat } from './logger.ts'
import { anyCharacter } from '../../../../http/src/testing/any-character.ts'

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 67)

test('a text line has time, level, module and message between tabs, then the fields', () => {
  const { root, lines } = start('info')
  root.child('config').warn('reload refused', { file: '/a b.yaml', count: 2, ok: false, none: undefined, list: [1] })
  assert.deepEqual(lines, [
    '2026-01-02T03:04:05.067000Z\twarn\tconfig\treload refused file="/a b.yaml" count=2 ok=false list=[1]\n',
  ])
})

test('a json line keeps what it says of itself apart from the fields', () => {
  const { root, lines } = start('info', 'json')
  root.child('config').info('hello', { message: 'other', deep: { a: [1] }, big: 5n, bad: Number.NaN })
  assert.deepEqual(JSON.parse(lines[0]!), {
    level: 'info',
    time: '2026-01-02T03:04:05.067000Z',
    scope: 'config',
    message: 'hello',
    message_: 'other',
    deep: { a: [1] },
    big: '5',
    bad: 'NaN',
  })
})

test('errors are written with their cause, and values that cannot be written do not throw', () => {
  const { root, lines } = start('info')
  const cycle: Record<string, unknown> = {}
  cycle.self = cycle
  root.child('a').error('x', { error: new Error('outer', { cause: new Error('inner') }), cycle })
  assert.match(lines[0]!, /error="Error: outer \(inner\)" cycle="\[object Object\]"/)
})

test('a changed filter is in force at once for loggers handed out before', () => {
  const { root, lines } = start('info')
  const log = root.child('upstream')
  log.debug('one')
  assert.equal(log.enabled('debug'), false)
  root.setFilter(filter('error,upstream=trace'))
  assert.equal(log.enabled('trace'), true)
  log.debug('two')
  root.child('other').warn('three')
  root.setFilter(filter('off'))
  log.error('four')
  assert.deepEqual(
    lines.map((line) => line.split('\t')[3]),
    ['two\n'],
  )
  assert.equal(root.child('upstream'), log)
  assert.equal(root.filter().text, 'off')
})

test('nothing in a message, key or value can start a new line or hide text', () => {
  const nasty = fc.oneof(
    fc.string({ unit: anyCharacter }),
    fc
      .array(fc.constantFrom('\n', '\r', '\t', '\0', '\x1b[2K', '\u2028', '\u0085', '\u202e', '"', '\\', '=', ' '), {
        maxLength: 6,
      })
      .map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(nasty, nasty, nasty, fc.constantFrom<LogFormat>('text', 'json'), (message, key, value, format) => {
      const { root, lines } = start('info', format)
      root.child('m').info(message, { [key]: value, nested: { [key]: [value] } })
      const line = lines[0]!
      assert.equal(lines.length, 1)
      assert.ok(line.endsWith('\n'))
      const body = format === 'text' ? line.slice(0, -1).replaceAll('\t', '|') : line.slice(0, -1)
      assert.doesNotMatch(body, /[\0-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e]/)
      if (format === 'json') {
        const read = JSON.parse(line) as Record<string, unknown>
        assert.equal(read.message, message.toWellFormed() === message ? message : read.message)
      } else {
        assert.equal(line.split('\t').length, 4, 'no forged column')
      }
    }),
    { seed: 5, numRuns: 500 },
  )
})

function start(filterText: string, format: LogFormat = 'text') {
  const lines: string[] = []
  const root = createLogger({ filter: filter(filterText), format, write: (line) => lines.push(line), now: () => NOW })
  return { root, lines }
}

function filter(text: string) {
  const result = parseLogFilter(text)
  assert.ok(result.ok)
  return result.value
}
