import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it, test } from 'node:test'
import { countAt, countNames, objectAt, objectsAt, parseJson, parseJsonObject, textAt, parseExactJson } from './json.ts'

describe('JSON of clients and upstreams', () => {
  it('is read as JSON.parse reads it', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 20 }), (value) => {
        const text = JSON.stringify(value)
        assert.deepEqual(parseJson(text), { value: JSON.parse(text) })
      }),
    )
  })

  it('that is invalid gives null', () => {
    for (const text of ['', '{', 'nul', '{"a":}', '{}x', "{'a':1}"]) assert.equal(parseJson(text), null)
    for (const text of ['[]', '1', '"{}"', 'null']) assert.equal(parseJsonObject(text), null)
  })

  it('nested deeper than can be written again is refused', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    assert.notEqual(parseJson(nested(512)), null)
    assert.equal(parseJson(nested(513)), null)
    assert.equal(parseJson(nested(100_000)), null)
  })

  it('counts no brackets inside of texts', () => {
    const text = JSON.stringify({ a: `${'[{'.repeat(2000)}\\"`, b: '\\', c: '"[' })
    assert.deepEqual(parseJson(text), { value: JSON.parse(text) })
  })

  it('gives members only of the type that is asked for', () => {
    const object = { text: 'a', count: 3, negative: -1, object: { a: 1 }, list: [{ a: 1 }, 2, null, [3]] }
    assert.equal(textAt(object, 'text'), 'a')
    assert.equal(textAt(object, 'count'), undefined)
    assert.equal(countAt(object, 'count'), 3)
    assert.equal(countAt(object, 'negative'), undefined)
    assert.equal(countAt(object, 'text'), undefined)
    assert.deepEqual(objectAt(object, 'object'), { a: 1 })
    assert.deepEqual(objectAt(object, 'list'), {})
    assert.deepEqual(objectsAt(object, 'list'), [{ a: 1 }])
    assert.deepEqual(objectsAt(object, 'object'), [])
  })

  it('names are counted wherever they stand, and twice where they stand twice', () => {
    assert.equal(countNames('{}'), 0)
    assert.equal(countNames('{"a":":","b\\"":{"c":[{"c":1},{"c":2}]},"a":"\\\\"}'), 6)
    assert.equal(countNames('[":",1]'), 0)
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value, null, 1)
        let names = 0
        JSON.parse(text, function (this: unknown, _key: string, each: unknown) {
          if (!Array.isArray(this)) names += 1
          return each
        })
        // The reviver is called for the whole value too.
        assert.equal(countNames(text), names - 1)
      }),
    )
  })
})

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
