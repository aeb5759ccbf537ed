import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { Schema } from '../kit.ts'
import { cidr, hostTarget, hostname, listenAddress } from './hosts.ts'
import { editableHeaderName, headerName, readableHeaderName, urlPath } from './http-parts.ts'
import { logFilter, regex } from './names.ts'
import { parseByteSize, parseDuration, printDuration } from './quantity.ts'
import { validate } from '../validate.ts'
import { boolean, byteSize, duration, durationOrSeconds, enumeration, integer, statusCode, string } from './values.ts'

function accepts(schema: Schema, input: unknown, output: unknown = input): void {
  assert.deepEqual(validate(schema, input), { ok: true, value: output }, JSON.stringify(input))
}

function refuses(schema: Schema, code: string, ...inputs: unknown[]): void {
  for (const input of inputs) {
    const result = validate(schema, input)
    assert.equal(result.ok ? 'accepted' : result.problems[0]?.code, code, JSON.stringify(input))
  }
}

test('durations are Go-style text and come out as milliseconds', () => {
  const cases: [string, number][] = [
    ['0', 0],
    ['0s', 0],
    ['100ms', 100],
    ['1m30s', 90_000],
    ['1.5h', 5_400_000],
    ['.5s', 500],
    ['250us', 0.25],
    ['1h2m3s4ms', 3_723_004],
  ]
  for (const [text, milliseconds] of cases) accepts(duration(), text, milliseconds)
  refuses(duration(), 'bad_format', '', '1', '1 s', '-1s', '1d', 's', '1s ', '1..5s')
  refuses(duration(), 'wrong_type', 5, null, true)
  refuses(duration({ min: '1s' }), 'out_of_range', '999ms', '0')
  refuses(duration({ max: '1h' }), 'out_of_range', '61m')
  const result = validate(duration(), 30)
  assert.equal(result.ok ? null : result.problems[0]?.suggestion, 'give a unit, such as "30s"')
})

test('every printed duration parses back to the same time', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 10 ** 10 }), (milliseconds) => {
      assert.equal(parseDuration(printDuration(milliseconds)), milliseconds)
    }),
    { seed: 1, numRuns: 300 },
  )
})

test('the duration parser never throws and agrees with its JSON pattern', () => {
  const pattern = /^(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$/
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('0', '1', '9', '.', 'm', 's', 'h', 'n', 'u', 'µ', '-', ' ') }),
      (text) => {
        assert.equal(parseDuration(text) !== null, pattern.test(text), text)
      },
    ),
    { seed: 2, numRuns: 2_000 },
  )
})

test('sizes are integers or texts with a unit', () => {
  const cases: [unknown, number][] = [
    [65_536, 65_536],
    ['100', 100],
    ['16kb', 16_384],
    ['16KB', 16_384],
    ['16Ki', 16_384],
    ['2mb', 2_097_152],
    ['1k', 1_000],
    ['1M', 1_000_000],
    ['1.5Ki', 1_536],
    ['3GiB', 3 * 2 ** 30],
  ]
  for (const [text, bytes] of cases) accepts(byteSize(), text, bytes)
  refuses(byteSize(), 'bad_format', '', '2 mb', '2m', '16ki', '1.0001Ki', 'mb', '-1k')
  refuses(byteSize(), 'wrong_type', 1.5, true, null)
  refuses(byteSize(), 'out_of_range', 0, '4gb', 2 ** 32)
  assert.equal(parseByteSize('4294967295'), 4_294_967_295)
})

test('words are accepted in any letter case and come out canonical', () => {
  const mode = enumeration(['Strict', 'Optional'])
  accepts(mode, 'Strict')
  accepts(mode, 'strict', 'Strict')
  accepts(mode, 'OPTIONAL', 'Optional')
  refuses(mode, 'not_allowed', 'Strct', '')
  refuses(mode, 'wrong_type', 1, null)
  const result = validate(mode, 'Strct')
  assert.equal(result.ok ? null : result.problems[0]?.suggestion, 'did you mean `Strict`?')
  accepts(enumeration(['1.2', '1.3']), 1.2, '1.2')
  refuses(enumeration(['1.2', '1.3']), 'wrong_type', 1.1)
})

test('numbers, texts and switches keep to their bounds and types', () => {
  accepts(integer({ min: 1, max: 3 }), 3)
  refuses(integer({ min: 1, max: 3 }), 'out_of_range', 0, 4)
  refuses(integer({ min: 1, max: 3 }), 'wrong_type', 1.5, '2', null, Number.NaN)
  accepts(string({ min: 1, max: 3 }), 'abc')
  refuses(string({ min: 1, max: 3 }), 'out_of_range', '', 'abcd')
  refuses(string({ min: 1, max: 3 }), 'wrong_type', 5, true)
  accepts(boolean(), false)
  refuses(boolean(), 'wrong_type', 'false', 0)
  accepts(statusCode([301, 302]), 301)
  refuses(statusCode([301, 302]), 'not_allowed', 303)
  accepts(durationOrSeconds(), 600, 600_000)
  accepts(durationOrSeconds(), '10m', 600_000)
  refuses(durationOrSeconds(), 'wrong_type', 1.5)
})

test('hostnames come out in lower case', () => {
  accepts(hostname({ wildcard: true }), '*.Example.COM', '*.example.com')
  accepts(hostname({ wildcard: true }), 'localhost')
  refuses(hostname({ wildcard: true }), 'bad_format', '*', 'a.*.b', '-a.b', 'a..b', 'a_b', 'a:80', '', 'x'.repeat(64))
  refuses(hostname({ wildcard: false }), 'bad_format', '*.example.com')
})

test('destinations are taken apart', () => {
  accepts(hostTarget(), 'Users.internal:8080', { kind: 'static', host: 'users.internal', port: 8080 })
  accepts(hostTarget(), '[::1]:80', { kind: 'static', host: '::1', port: 80 })
  accepts(hostTarget(), 'unix:/run/app.sock', { kind: 'unix', path: '/run/app.sock' })
  refuses(
    hostTarget(),
    'bad_format',
    'x',
    'x:0',
    'x:65536',
    '::1:80',
    '010.0.0.1:80',
    '1.2.3:80',
    '0x7f.1:80',
    'unix:',
    'a b:1',
  )
})

test('listen addresses are IP addresses, localhost, sockets or off', () => {
  for (const text of ['127.0.0.1:15000', '[::]:15020', 'unix:/run/admin.sock', 'off']) accepts(listenAddress(), text)
  accepts(listenAddress(), 'LocalHost:15000', 'localhost:15000')
  refuses(listenAddress(), 'bad_format', 'example.com:80', '15000', ':15000', '1.2.3.4')
})

test('header names are tokens in lower case, and framing headers cannot be edited', () => {
  accepts(headerName(), 'X-Team', 'x-team')
  refuses(headerName(), 'bad_format', '', 'a b', 'a:b', ':path', 'é')
  accepts(readableHeaderName(), ':authority')
  refuses(readableHeaderName(), 'bad_format', ':status', '::path')
  refuses(editableHeaderName(), 'not_allowed', 'Content-Length', 'transfer-encoding', 'connection')
})

test('patterns must be legal RE2, and the reason for a refusal is told', () => {
  accepts(regex(), '[a-z]+(foo|bar)')
  refuses(regex(), 'bad_format', '(', '(?=a)', 'a(?<!b)', '\\1')
  const result = validate(regex(), '(a')
  assert.match(result.ok ? '' : result.problems[0]!.expected, /\(.*missing/)
})

test('address ranges', () => {
  for (const text of ['10.0.0.0/8', '::/0', 'fd00::/8', '192.168.1.1', '::ffff:1.2.3.4/128']) accepts(cidr(), text)
  refuses(cidr(), 'bad_format', '10.0.0.0/33', '10.0.0/8', '10.0.0.0/', '::/129', '10.0.0.0/08', '01.2.3.4/8')
})

test('paths have no query and no dot segments', () => {
  for (const text of ['/', '/a/b', '/a%20b', '/.well-known/x', '/a..b']) accepts(urlPath(), text)
  refuses(urlPath(), 'bad_format', '', 'a', '/a?b', '/a#b', '/a/../b', '/a/%2e%2E/b', '/.', '/a b', '/a\\b')
})

test('log filters name levels, alone or by module', () => {
  for (const text of ['info', 'info,upstream=debug', 'net.http1=trace, off']) accepts(logFilter(), text)
  refuses(
    logFilter(),
    'bad_format',
    'verbose',
    'info,',
    '=debug',
    'a b=info',
    'info,warn',
    'a=info,a=warn',
    'a..b=info',
  )
})
