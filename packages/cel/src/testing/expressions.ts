import * as fc from 'fast-check'
import { Double, Uint } from '../value.ts'
import type { Value } from '../value.ts'

/** Variables of generated expressions, one or two of each type. */
export const variableNames = ['s', 't', 'i', 'j', 'd', 'e', 'u', 'b', 'c', 'n', 'y', 'l', 'ls', 'm', 'mm'] as const

export type Scope = Record<(typeof variableNames)[number], Value>

const texts = fc.constantFrom('', 'a', 'ab', 'abc', 'b', 'A-b_c', 'é', '😀x', '10', '-7', '1.5', 'true', 'key', 'x y')
const ints = fc.oneof(
  fc.integer({ min: -5, max: 5 }),
  fc.constantFrom(
    2 ** 31,
    -(2 ** 31),
    Number.MAX_SAFE_INTEGER,
    9_223_372_036_854_775_807n,
    -9_223_372_036_854_775_808n,
  ),
)
const doubles = fc
  .constantFrom(0, -0, 1, -1, 2.5, -0.5, 1e300, -1e300, 5e-324, Infinity, -Infinity, NaN, 2 ** 53 + 2)
  .map((number) => (Number.isSafeInteger(number) ? new Double(number) : number))
const uints = fc.constantFrom(0n, 1n, 2n, 7n, 2n ** 63n, 2n ** 64n - 1n).map((value) => new Uint(value))
const bytes = fc.constantFrom('', 'a', 'abc', 'é').map((text) => new TextEncoder().encode(text))

export const scopes: fc.Arbitrary<Scope> = fc.record({
  s: texts,
  t: texts,
  i: ints,
  j: ints,
  d: doubles,
  e: doubles,
  u: uints,
  b: fc.boolean(),
  c: fc.boolean(),
  n: fc.constant(null),
  y: bytes,
  l: fc.array(ints, { maxLength: 4 }),
  ls: fc.array(texts, { maxLength: 4 }),
  m: fc.dictionary(texts, ints, { maxKeys: 3 }),
  mm: fc.record({ a: texts, key: fc.record({ x: ints }) }),
})

// A type alias, because letrec needs a type that is assignable to Record.
type Texts = {
  any: string
  bool: string
  number: string
  text: string
  list: string
  map: string
}

/** Operands mostly have fitting types, because errors alone prove little; some have any type, because errors matter. */
export const sources: fc.Arbitrary<string> = fc.letrec<Texts>((tie) => {
  const loose = (kind: keyof Texts): fc.Arbitrary<string> =>
    fc.oneof({ weight: 12, arbitrary: tie(kind) }, { weight: 1, arbitrary: tie('any') })
  const [bool, number, text, list, map] = [loose('bool'), loose('number'), loose('text'), loose('list'), loose('map')]
  const form = (template: string, ...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
    fc.tuple(...parts).map((values) => template.replace(/#(\d)/g, (_, index) => values[Number(index)]!))
  const relation = fc.constantFrom('==', '!=', '<', '<=', '>', '>=')
  const leaf = (...leaves: string[]): fc.Arbitrary<string> => fc.constantFrom(...leaves)
  const inDepth = { maxDepth: 4, depthIdentifier: 'expression' }
  return {
    any: fc.oneof(
      inDepth,
      leaf('n', 'null', 'y', 'b"a"', 'type(i)'),
      tie('bool'),
      tie('number'),
      tie('text'),
      tie('list'),
      tie('map'),
    ),
    bool: fc.oneof(
      inDepth,
      leaf('b', 'c', 'true', 'false'),
      form('(#0 && #1)', bool, bool),
      form('(#0 || #1)', bool, bool),
      form('(#0 || #1 || #2)', bool, bool, bool),
      form('!#0', bool),
      form('(#0 #1 #2)', number, relation, number),
      form('(#0 #1 #2)', text, relation, text),
      form('(#0 == #1)', tie('any'), tie('any')),
      form('(#0 != #1)', list, list),
      form('#0.startsWith(#1)', text, text),
      form('#0.endsWith(#1)', text, text),
      form('#0.contains(#1)', text, text),
      form('#0.matches("^[a-z]+$")', text),
      form('(#0 in #1)', text, tie('list')),
      form('(#0 in #1)', number, tie('list')),
      form('(#0 in #1)', text, tie('map')),
      form('has(#0.a)', map),
      form('has(mm.key.x)'),
      form('#0.all(v, v == #1)', list, number),
      form('#0.exists(v, #1)', list, bool),
      form('#0.exists(v, v > #1)', list, number),
      form('#0.exists_one(v, v == #1)', list, number),
      form('(#0 ? #1 : #2)', bool, bool, bool),
    ),
    number: fc.oneof(
      inDepth,
      leaf('i', 'j', 'd', 'e', 'u', '0', '1', '-1', '2u', '1.5', '-0.0', '9223372036854775807'),
      form('(#0 + #1)', number, number),
      form('(#0 - #1)', number, number),
      form('(#0 * #1)', number, number),
      form('(#0 / #1)', number, number),
      form('(#0 % #1)', number, number),
      form('-(#0)', number),
      form('size(#0)', text),
      form('#0.size()', list),
      form('int(#0)', number),
      form('uint(#0)', number),
      form('double(#0)', number),
      form('int(#0)', text),
      form('#0[#1]', list, leaf('0', '1', 'i', '1.0', '1u')),
      form('#0.a', map),
      form('#0["key"]', map),
      leaf('mm.key.x', 'm.a', 'm["a"]', 'm.constructor', 'mm.key.toString'),
      form('(#0 ? #1 : #2)', bool, number, number),
    ),
    text: fc.oneof(
      inDepth,
      leaf('s', 't', '""', '"a"', '"abc"', 'mm.a', '"😀"', 'mm.missing'),
      form('(#0 + #1)', text, text),
      form('string(#0)', leaf('i', 'j', 'u', 'b', 's', 'y', '1.5', 'd')),
      form('(#0 ? #1 : #2)', bool, text, text),
      form('#0.substring(#1)', text, leaf('0', '1', 'i')),
      form('#0.replace(#1, #2)', text, text, text),
      form('#0.charAt(#1)', text, leaf('0', '1', 'i')),
      form('#0.lowerAscii()', text),
      form('ls[0]'),
    ),
    list: fc.oneof(
      inDepth,
      leaf('l', 'ls', '[]', '[1, 2, 3]', '["a", "abc"]', '[1, 1.0, 1u]'),
      form('[#0, #1]', number, number),
      form('[#0]', tie('any')),
      form('(#0 + #1)', list, list),
      form('#0.map(v, #1)', list, tie('any')),
      form('#0.map(v, v + #1)', list, number),
      form('#0.filter(v, v != #1)', list, tie('any')),
      form('#0.split(#1)', text, text),
    ),
    map: fc.oneof(
      inDepth,
      leaf('m', 'mm', '{}', '{"a": 1}', '{1: "x", 2u: "y", true: 3}', 'mm.key'),
      form('{"a": #0, "key": #1}', tie('any'), number),
      form('{#0: #1}', tie('any'), number),
    ),
  }
}).any
