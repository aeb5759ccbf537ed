import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseLogFilter, severities } from './log-filter.ts'
import type { Threshold } from './log-filter.ts'

test('the most specific module wins, the bare level is for the rest', () => {
  const filter = parsed('warn, upstream=debug,upstream.pool=OFF')
  assert.equal(filter.levelFor('request'), 'warn')
  assert.equal(filter.levelFor('upstream'), 'debug')
  assert.equal(filter.levelFor('upstream.dns'), 'debug')
  assert.equal(filter.levelFor('upstream.pool'), 'off')
  assert.equal(filter.levelFor('upstream.pool.idle'), 'off')
  assert.equal(filter.levelFor('upstreams'), 'warn')
})

test('without a bare level the rest logs at info', () => {
  assert.equal(parsed('request=off').levelFor('config'), 'info')
})

test('an invalid filter is rejected with the entry and the reason', () => {
  for (const [text, reason] of [
    ['', /expected one of off, error/],
    ['loud', /"loud".*expected one of/],
    ['info,', /entry "".*expected one of/],
    ['a=', /expected one of/],
    ['=info', /a module is made of/],
    ['a b=info', /a module is made of/],
    ['a..b=info', /a module is made of/],
    ['info,debug', /only once/],
    ['a=info,a=debug', /given twice/],
    ['constructor', /expected one of/],
  ] as const) {
    const result = parseLogFilter(text)
    assert.ok(!result.ok, text)
    assert.match(result.problem, reason)
  }
})

test('every module gets the level that was written for it', () => {
  const level = fc.constantFrom(...(Object.keys(severities) as Threshold[]))
  const entries = fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), level, { maxKeys: 6, noNullPrototype: true })
  fc.assert(
    fc.property(level, entries, (fallback, levelsByModule) => {
      const filter = parsed([fallback, ...Object.entries(levelsByModule).map(([m, l]) => `${m}=${l}`)].join(','))
      for (const [module, expected] of Object.entries(levelsByModule)) assert.equal(filter.levelFor(module), expected)
      assert.equal(filter.levelFor('OTHER'), fallback)
    }),
    { seed: 3, numRuns: 200 },
  )
})

test('no text makes the parser throw', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      parseLogFilter(text)
    }),
    { seed: 4, numRuns: 500 },
  )
})

function parsed(text: string) {
  const result = parseLogFilter(text)
  assert.ok(result.ok, JSON.stringify(result))
  return result.value
}
