import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { countAt, countNames, objectAt, objectsAt, parseJson, parseJsonObject, textAt } from './json.ts'

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
