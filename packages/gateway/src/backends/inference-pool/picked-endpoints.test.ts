import assert from 'node:assert/strict'
import { isIP } from 'node:net'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { pickedEndpoints } from './picked-endpoints.ts'

const inMetadata = (value: unknown) => ({ 'envoy.lb': { 'x-gateway-destination-endpoint': value } })

test('endpoints are read in order, from the metadata or the header', () => {
  assert.deepEqual(pickedEndpoints(inMetadata('10.0.0.2:80, 10.0.0.1:81,10.0.0.2:80'), '10.0.0.9:1'), [
    '10.0.0.2:80',
    '10.0.0.1:81',
  ])
  assert.deepEqual(pickedEndpoints(inMetadata(['10.0.0.2:80']), null), ['10.0.0.2:80'])
  assert.deepEqual(pickedEndpoints(null, '[2001:DB8:0::1]:80'), ['[2001:db8::1]:80'])
  assert.deepEqual(pickedEndpoints({}, '10.0.0.1:80'), ['10.0.0.1:80'])
})

test('texts that are no address are left out', () => {
  for (const text of [
    '',
    ',',
    'localhost:80',
    '10.0.0.1',
    '10.0.0.1:0',
    '10.0.0.1:99999',
    '::1:80',
    'http://10.0.0.1:80',
  ]) {
    assert.deepEqual(pickedEndpoints(null, text), [], text)
  }
  assert.deepEqual(pickedEndpoints(inMetadata(7), '10.0.0.1:80'), [])
  assert.deepEqual(pickedEndpoints({ 'envoy.lb': null }, null), [])
})

test('every answer gives few addresses in one spelling, without exceptions', () => {
  const text = fc.oneof(
    fc.string(),
    fc
      .tuple(
        fc.oneof(
          fc.ipV4(),
          fc.ipV6().map((ip) => `[${ip}]`),
        ),
        fc.nat(70_000),
      )
      .map(([ip, port]) => `${ip}:${port}`),
  )
  const answer = fc.oneof(
    fc.anything(),
    fc.array(text, { maxLength: 50 }).map((texts) => texts.join(',')),
  )
  fc.assert(
    fc.property(answer, fc.option(text), (metadata, header) => {
      const found = pickedEndpoints(inMetadata(metadata), header)
      assert.ok(found.length <= 32)
      for (const endpoint of found) {
        const [, host = '', port] = /^\[?(.*?)\]?:(\d+)$/.exec(endpoint) ?? []
        assert.ok(isIP(host) !== 0 && Number(port) > 0 && Number(port) < 65_536, endpoint)
        assert.deepEqual(pickedEndpoints(null, endpoint), [endpoint])
      }
    }),
  )
})
