import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { CelError } from './error.ts'
import { Secret } from './library/secret.ts'
import { toJson, toText } from './render.ts'
import { evaluate } from './testing/evaluate.ts'
import { Double, Duration, Optional, Timestamp, TypeValue, Uint } from './value.ts'
import type { MapKey, Result, Value } from './value.ts'

describe('cel values as JSON and as text', () => {
  const cases: readonly (readonly [value: Result, json: unknown, text: string])[] = [
    [null, null, 'null'],
    [true, true, 'true'],
    ['a"b', 'a"b', 'a"b'],
    [42, 42, '42'],
    [1.5, 1.5, '1.5'],
    [NaN, null, 'NaN'],
    [Infinity, null, 'Infinity'],
    [new Double(3), 3, '3'],
    [new Uint(7n), 7, '7'],
    [new Uint(2n ** 64n - 1n), '18446744073709551615', '18446744073709551615'],
    [9_007_199_254_740_993n, '9007199254740993', '9007199254740993'],
    [new Uint8Array([97, 98]), 'YWI=', 'ab'],
    [new Uint8Array([255]), '/w==', '/w=='],
    [Timestamp.fromMillis(0), '1970-01-01T00:00:00Z', '1970-01-01T00:00:00Z'],
    [Timestamp.fromMillis(-1.5), '1969-12-31T23:59:59.9985Z', '1969-12-31T23:59:59.9985Z'],
    [new Timestamp(1, 120_000_000), '1970-01-01T00:00:01.12Z', '1970-01-01T00:00:01.12Z'],
    [Duration.fromMillis(1500), '1.5s', '1.5s'],
    [Duration.fromMillis(-250), '-0.25s', '-0.25s'],
    [new TypeValue('int'), 'int', 'int'],
    [new Optional(1), 1, '1'],
    [Optional.none, null, ''],
    [new Secret('x'), '<redacted>', '<redacted>'],
    [new CelError('failed', 'x'), null, ''],
    [[1, 'a', [null]], [1, 'a', [null]], '[1,"a",[null]]'],
    [{ a: 1, b: undefined, c: { d: [] } }, { a: 1, c: { d: [] } }, '{"a":1,"c":{"d":[]}}'],
    [
      new Map<MapKey, Value>([
        [1, 'x'],
        [true, 'y'],
        [new Uint(2n), 'z'],
      ]),
      { 1: 'x', true: 'y', 2: 'z' },
      '{"1":"x","2":"z","true":"y"}',
    ],
  ]
  for (const [value, json, text] of cases) {
    it(text === '' ? JSON.stringify(json) : text, () => {
      assert.deepEqual(toJson(value), json)
      assert.equal(toText(value), text)
    })
  }

  it('a key may have any name', () => {
    const parsed = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}') as Value
    assert.equal(JSON.stringify(toJson(parsed)), '{"__proto__":{"x":1},"constructor":2}')
    assert.equal(Object.getPrototypeOf(toJson(parsed)), Object.prototype)
  })

  it('plain JSON comes out as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as Value
        assert.deepEqual(toJson(plain), plain)
      }),
      { seed: 84, numRuns: 500 },
    )
  })

  it('values that are too deep or too large become null', () => {
    const deep = JSON.parse('['.repeat(5000) + ']'.repeat(5000)) as Value
    assert.ok(JSON.stringify(toJson(deep)).length < 1000)
    const wide = evaluate('l.map(a, l)', { l: Array.from({ length: 900 }, (_, i) => i) }) as Value
    const wider = evaluate('l.map(a, w)', { l: [1, 2, 3], w: wide }) as Value
    assert.match(JSON.stringify(toJson(wider)), /null/)
    const long = Array.from({ length: 100 }, () => 'x'.repeat(1_000_000))
    assert.ok(JSON.stringify(toJson(long)).length < 17_000_000)
  })
})
