import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseExactJson } from './exact-json.ts'

test('integers that do not fit into a double come out as they went in', () => {
  for (const text of [
    '{"id":12345678901234567890,"n":[-9007199254740993]}',
    '[1e400,-1e400]',
    '{"id":9007199254740991,"x":0.5}',
    '123456789012345678901234567890',
  ]) {
    assert.equal(JSON.stringify(parseExactJson(text)), text)
  }
})

test('digits in texts stay texts', () => {
  assert.deepEqual(parseExactJson('{"id":"12345678901234567890"}'), { id: '12345678901234567890' })
})

test('a text that is not JSON gives undefined', () => {
  for (const text of ['', '{', 'nope', '{"a":1}x', '12345678901234567890x'])
    assert.equal(parseExactJson(text), undefined)
})

test('JSON without large numbers is read as by JSON.parse', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value)
      assert.equal(JSON.stringify(parseExactJson(text)), JSON.stringify(JSON.parse(text)))
    }),
  )
})

test('any integer survives', () => {
  fc.assert(
    fc.property(fc.bigInt(), (value) => {
      assert.equal(JSON.stringify(parseExactJson(`{"a":[${value}]}`)), `{"a":[${value}]}`)
    }),
  )
})
