import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { MessageHead, parseRequestHead } from './head.ts'
import { unfinishedProblem } from './unfinished-head.ts'

const LIMITS = { maxHeaders: 100, maxTarget: 1_000 }
const bytesOf = (text: string): Buffer => Buffer.from(text, 'latin1')

const line = fc
  .tuple(
    fc.constantFrom('GET', 'M-SEARCH', 'x', 'A'.repeat(32)),
    fc.constantFrom('/', '/a?b', '*', 'http://a/b', 'a:1'),
    fc.constantFrom('HTTP/1.0', 'HTTP/1.1', 'HTTP/2.0'),
  )
  .map((parts) => parts.join(' ') + '\r\n')
const field = fc.constantFrom('Host: a\r\n', 'x:\r\n', 'X-A: \t b\xe9 \r\n', 'cookie: a=b; c\r\n')
const head = fc
  .tuple(line, fc.array(field, { maxLength: 4 }))
  .map(([first, fields]) => first + fields.join('') + '\r\n')

test('no beginning of a head is refused, however much of it was looked at before', () => {
  fc.assert(
    fc.property(head, fc.nat(), fc.nat(), (text, cut, looked) => {
      const start = bytesOf(text).subarray(0, cut % text.length)
      assert.equal(unfinishedProblem(start, 0, looked % (start.length + 1)), null)
    }),
  )
})

test('a rejected beginning could not have become a request, whatever followed', () => {
  const noise = fc.string({ unit: fc.constantFrom(...'GET /:HTP1.\r\n\0\x16\x03\x80 ax'.split('')), maxLength: 30 })
  const beginning = fc.oneof(
    noise,
    fc.tuple(head, fc.nat(), noise).map(([text, cut, more]) => text.slice(0, cut % text.length) + more),
  )
  fc.assert(
    fc.property(beginning, noise, (start, rest) => {
      if (start.includes('\r\n\r\n') || start.startsWith('\r\n')) return
      const problem = unfinishedProblem(bytesOf(start), 0, 0)
      if (problem === null) return
      const whole = start + rest.replaceAll('\r\n\r\n', '') + '\r\n\r\n'
      assert.ok(!(parseRequestHead(whole, LIMITS) instanceof MessageHead), JSON.stringify(whole))
    }),
    { numRuns: 2_000 },
  )
})

test('versions that cannot become one of HTTP are refused at their first wrong byte', () => {
  for (const start of [
    'GET / X',
    'GET / HTTX',
    'GET / HTTP/a',
    'GET / HTTP/:',
    'GET / HTTP/1:',
    'GET / HTTP/1./',
    'GET / HTTP/1.:',
  ])
    assert.notEqual(unfinishedProblem(bytesOf(start), 0, 0), null, start)
  for (const start of ['GET / H', 'GET / HTTP/', 'GET / HTTP/0', 'GET / HTTP/9.9', 'GET / HTTP/1.1'])
    assert.equal(unfinishedProblem(bytesOf(start), 0, 0), null, start)
})
