import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { formatHostPort, parseAddress } from './address.ts'

test('localhost stands for both loopback addresses', () => {
  assert.deepEqual(parseAddress('localhost:15000'), {
    ok: true,
    value: { kind: 'tcp', hosts: ['127.0.0.1', '::1'], port: 15000, loopback: true },
  })
})

test('only loopback addresses count as loopback', () => {
  for (const [text, loopback] of [
    ['127.0.0.1:1', true],
    ['127.8.9.1:1', true],
    ['[::1]:1', true],
    ['0.0.0.0:1', false],
    ['[::]:1', false],
    ['10.0.0.1:1', false],
    ['[::ffff:127.0.0.1]:1', false],
  ] as const) {
    const parsed = parseAddress(text)
    assert.ok(parsed.ok && parsed.value.kind === 'tcp', text)
    assert.equal(parsed.value.loopback, loopback, text)
  }
})

test('off and unix sockets are addresses too', () => {
  assert.deepEqual(parseAddress('off'), { ok: true, value: { kind: 'off' } })
  assert.deepEqual(parseAddress('unix:/run/x.sock'), { ok: true, value: { kind: 'unix', path: '/run/x.sock' } })
})

test('an invalid address is rejected with the found and the expected text', () => {
  for (const text of [
    '',
    'x',
    ':80',
    '::1:80',
    '1.2.3.4',
    '1.2.3.4:99999',
    'example.com:80',
    '[1.2.3.4]:80',
    'unix:rel',
  ]) {
    const parsed = parseAddress(text)
    assert.ok(!parsed.ok, text)
    assert.ok(parsed.problem.includes(JSON.stringify(text)), parsed.problem)
  }
})

test('every formatted ip address parses to itself', () => {
  const ip = fc.oneof(fc.ipV4(), fc.ipV6())
  fc.assert(
    fc.property(ip, fc.integer({ min: 0, max: 65_535 }), (host, port) => {
      const parsed = parseAddress(formatHostPort(host, port))
      assert.ok(parsed.ok && parsed.value.kind === 'tcp')
      assert.deepEqual([parsed.value.hosts, parsed.value.port], [[host], port])
    }),
    { seed: 1, numRuns: 300 },
  )
})
