import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseHostPort } from '../../../gateway/src/formats/address.ts'
import { hostPortOf } from './addresses.ts'

test('names of containers may have underscores', () => {
  assert.equal(hostPortOf('web_app:3000', null), 'web_app:3000')
  assert.equal(hostPortOf('_app_.internal', 80), '_app_.internal:80')
})

test('texts that are no host and port have no address', () => {
  for (const text of [
    '',
    ':80',
    'unix:/run/app.sock',
    '$host',
    'a..b',
    '-a',
    'a-',
    '1.2.3',
    '010.0.0.1',
    '256.1.1.1',
  ]) {
    assert.equal(hostPortOf(text, 80), null, text)
  }
  for (const text of ['a:0', 'a:65536', '[1.2.3.4]:80', '[::g]:80', '::1:80', `${'a'.repeat(64)}:80`]) {
    assert.equal(hostPortOf(text, 80), null, text)
  }
  assert.equal(hostPortOf('app', null), null)
})

test('an address is known exactly when the gateway accepts it', () => {
  const part = fc.constantFrom(
    'a',
    'B',
    '_',
    '-',
    '.',
    '0',
    '9',
    '255',
    '256',
    '01',
    '0x',
    '::',
    ':',
    '1',
    'f',
    '$',
    '/',
  )
  const host = fc.array(part, { maxLength: 9 }).map((parts) => parts.join(''))
  const plain = fc.oneof(host, fc.ipV4(), fc.domain())
  const texts = fc.oneof(
    plain,
    host.map((text) => `[${text}]`),
    fc.ipV6().map((text) => `[${text}]`),
  )
  const ports = fc.constantFrom(null, 1, 80, 65_535, 65_536)
  fc.assert(
    fc.property(texts, ports, (text, port) => {
      const address = port === null ? text : `${text}:${port}`
      const parsed = parseHostPort(address)
      // The gateway accepts port 0 for listeners, and not for backends.
      assert.equal(hostPortOf(address, null) !== null, parsed !== null && parsed.port !== 0, address)
    }),
    { numRuns: 20_000 },
  )
})
