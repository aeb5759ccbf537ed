import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { dyn } from '../declarations.ts'
import { createEnvironment } from '../node-environment.ts'
import { compile } from '../program.ts'
import { decodeBase64, encodeBase64 } from '../run/base64.ts'
import { evaluate, show } from '../testing/evaluate.ts'
import type { Value } from '../value.ts'
import { FlattenedFields } from './maps.ts'
import { Secret } from './secret.ts'

const token = ['{"alg":"none"}', '{"sub":"ué","n":1}', 'x']
  .map((part) =>
    encodeBase64(new TextEncoder().encode(part)).replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_'),
  )
  .join('.')

const scope = {
  token,
  secret: new Secret('s3cret'),
  m: { a: 1, b: { c: 2, d: [3, { e: 4 }] } },
  body: new TextEncoder().encode('{"a": [1, 2.5, "x", null, true]}'),
}

describe('cel gateway functions', () => {
  const cases: readonly (readonly [source: string, expected: string | RegExp])[] = [
    ['json("[1, 1.5, {}]")', '[int 1, double 1.5, {}]'],
    ['json(body).a', '[int 1, double 2.5, "x", null, true]'],
    ['json("{")', /^bad_value/],
    ['json(b"\\xff")', /^bad_value/],
    ['json(1)', /^no_such_overload/],
    [
      'toJson({"b": b"abc", "t": timestamp("2020-01-01T00:00:00.500Z"), "d": duration("1.5s"), "u": 1u, 1: null})',
      JSON.stringify('{"1":null,"b":"YWJj","t":"2020-01-01T00:00:00.5Z","d":"1.5s","u":1}'),
    ],
    ['to_json([1, 2.0, "x", secret])', JSON.stringify('[1,2,"x","<redacted>"]')],
    ['json(toJson(m)) == m', 'true'],
    ['unvalidatedJwtPayload(token).sub', '"ué"'],
    ['unvalidatedJwtPayload("a.b.c")', /^bad_value/],
    ['unvalidatedJwtPayload("x")', /^bad_value/],
    ['base64.encode("é")', '"w6k="'],
    ['string(base64.decode("w6k"))', '"é"'],
    ['base64Encode(b"a") + string(base64Decode("YQ=="))', '"YQ==a"'],
    ['base64.decode("@@")', /^bad_value/],
    ['base64.decode("YQ=")', /^bad_value/],
    ['url.encode("a b&é/~*\'()!")', '"a%20b%26%C3%A9%2F~%2A%27%28%29%21"'],
    ['url.decode("a%20b+%C3%A9")', '"a b+é"'],
    ['url.decode("%zz")', /^bad_value/],
    ['form.encode({"b": "1 2", "a": ["x", "y&"], "c": 3})', '"a=x&a=y%26&b=1+2&c=3"'],
    ['form.decode("a=1+2&b=x&b=y&c")', '{"a": "1 2", "b": ["x", "y"], "c": ""}'],
    ['form.decode("?a=1")', '{"?a": "1"}'],
    ['form.encode({"a": {}})', /^no_such_overload/],
    ['fail("no " + string(1))', 'failed (no 1)'],
    ['fail() || true', 'true'],
    ['{"a": 1}.merge({"a": 2, "b": 3})', '{"a": int 2, "b": int 3}'],
    ['m.merge({"a": 9}).a', 'int 9'],
    ['m.merge(1)', /^no_such_overload/],
    ['m.mapValues(v, type(v) == int)', '{"a": true, "b": false}'],
    ['m.filterKeys(k, k == "a")', '{"a": int 1}'],
    ['[1].mapValues(v, v)', /^no_such_overload/],
    ['5.with(x, x * x)', 'int 25'],
    ['"a-b-c".regexReplace("-(.)", "+$1")', '"a+b-c"'],
    ['"ab".regexReplace("(?P<x>a)", "${x}${x}")', '"aab"'],
    ['"ab".regexReplace(1, "x")', /^no_such_overload/],
    ['"/v1/x".stripPrefix("/v1") + "a.js".stripSuffix(".js")', '"/xa"'],
    ['"a".stripPrefix("b") + "a".stripSuffix("b")', '"aa"'],
    ['max(1, 3, 2) + min([4, 5])', 'int 7'],
    ['math.sqrt(9)', 'double 3'],
    ['["x", "y"].join("-") + "a b".split(" ")[1]', '"x-yb"'],
    ['string(secret)', '"<redacted>"'],
    ['"%s".format([secret])', '"<redacted>"'],
    ['secret == "s3cret" && "s3cret" == secret && secret != "x"', 'true'],
    ['secret.unredacted()', '"s3cret"'],
    ['"x".unredacted()', /^no_such_overload/],
  ]
  for (const [source, expected] of cases) {
    it(source, () => {
      const shown = show(source, scope)
      if (typeof expected === 'string') assert.equal(shown, expected)
      else assert.match(shown, expected)
    })
  }

  it('hash in hex', () => {
    const environment = createEnvironment()
    assert.equal(show('md5.encode("abc")', {}, environment), '"900150983cd24fb0d6963f7d28e17f72"')
    assert.equal(show('sha1.encode(b"abc")', {}, environment), '"a9993e364706816aba3e25717850c26c9cd0d89d"')
    const sha256 = '"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"'
    assert.equal(show('sha256.encode("abc")', {}, environment), sha256)
    assert.match(show('sha256.encode(1)', {}, environment), /^no_such_overload/)
    // The environment of browsers cannot compute hashes.
    assert.match(show('sha256.encode("abc")'), /^internal/)
  })

  it('take randomness from the scope, at each evaluation', () => {
    const environment = createEnvironment()
    const given = { random: () => 0.5 }
    assert.equal(show('random()', given, environment), 'double 0.5')
    assert.equal(show('uuid()', given, environment), '"80000000-8000-4000-8000-000080000000"')
    assert.match(show('random() + random()', {}, environment), /^internal/)
    let next = 0
    const compiled = compile('random()', environment)
    assert.ok(compiled.ok)
    const { program } = compiled
    const numbers = Array.from({ length: 3 }, () => program.evaluate({ random: () => ++next / 10 }))
    assert.deepEqual(numbers, [0.1, 0.2, 0.3])
    const compiledUuid = compile('uuid()', environment)
    assert.ok(compiledUuid.ok)
    const pattern = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 8, maxLength: 8 }),
        (numbers) => {
          let at = 0
          const uuid = compiledUuid.program.evaluate({ random: () => numbers[at++ % 8]! })
          assert.ok(typeof uuid === 'string')
          assert.match(uuid, pattern)
        },
      ),
      { seed: 82, numRuns: 300 },
    )
  })

  it('flatten gives the fields that logs write', () => {
    const fields = (source: string): readonly (readonly [string, Value])[] => {
      const value = evaluate(source, scope)
      assert.ok(value instanceof FlattenedFields)
      return value.fields
    }
    assert.deepEqual(fields('flatten(m)'), [
      ['a', 1],
      ['b', { c: 2, d: [3, { e: 4 }] }],
    ])
    for (const name of ['flattenRecursive', 'flatten_recursive']) {
      assert.deepEqual(fields(`${name}(m)`), [
        ['a', 1],
        ['b.c', 2],
        ['b.d.0', 3],
        ['b.d.1.e', 4],
      ])
    }
    assert.equal(evaluate('flatten(5)'), 5)
  })

  it('variables() are those that are there', () => {
    const environment = createEnvironment({ variables: { a: dyn, b: dyn } })
    assert.equal(show('variables()', { a: 1, c: 2 }, environment), '{"a": int 1}')
  })
})

describe('base64', () => {
  it('writes and reads as the runtime does', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64')
        assert.equal(encodeBase64(bytes), text)
        assert.deepEqual(decodeBase64(text), bytes)
        assert.deepEqual(decodeBase64(text.replace(/=+$/, '')), bytes)
      }),
      { seed: 83, numRuns: 1000 },
    )
  })
})
