import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { dyn } from '../declarations.ts'
import { createEnvironment } from '../environment.ts'
import { isCelError } from '../error.ts'
import { compile } from '../program.ts'
import { toJson } from '../render.ts'
import { remediesFor } from './needs.ts'
import type { Need } from './remedy.ts'
import { type Part, partsOf } from './parts.ts'

const environment = createEnvironment({ variables: { request: dyn, jwt: dyn, a: dyn, b: dyn, c: dyn } })
const scope = { request: { path: '/admin', method: 'GET', headers: { 'x-team': 'b' } }, jwt: { sub: 'eve', age: 17 } }

describe('values of parts', () => {
  it('each part has its text and its value', () => {
    assert.deepEqual(shown('(request.path == "/" || jwt.sub in ["ann", "bob"]) && has(jwt.age)'), [
      '(request.path == "/" || jwt.sub in ["ann", "bob"]) && has(jwt.age) → false',
      [
        '(request.path == "/" || jwt.sub in ["ann", "bob"]) → false',
        ['request.path == "/" → false', ['request.path → "/admin"']],
        ['jwt.sub in ["ann", "bob"] → false', ['jwt.sub → "eve"']],
      ],
      ['has(jwt.age) → true'],
    ])
  })

  it('a macro shows its range, a function its arguments; namespaces are left out', () => {
    assert.deepEqual(shown('[1, jwt.age].exists(n, n > 20)'), [
      '[1, jwt.age].exists(n, n > 20) → false',
      ['[1, jwt.age] → [1,17]', ['jwt.age → 17']],
    ])
    assert.deepEqual(shown('size(jwt.sub) > 2 && type(jwt.sub) == string'), [
      'size(jwt.sub) > 2 && type(jwt.sub) == string → true',
      ['size(jwt.sub) > 2 → true', ['size(jwt.sub) → 3', ['jwt.sub → "eve"']]],
      ['type(jwt.sub) == string → true', ['type(jwt.sub) → "string"', ['jwt.sub → "eve"']]],
    ])
    assert.deepEqual(shown('base64.encode(b"x") == request.headers["x-team"]'), [
      'base64.encode(b"x") == request.headers["x-team"] → false',
      ['base64.encode(b"x") → "eA=="'],
      ['request.headers["x-team"] → "b"'],
    ])
  })

  it('a part that fails has its error', () => {
    assert.deepEqual(shown('jwt.groups == []'), [
      'jwt.groups == [] → error no_such_key',
      ['jwt.groups → error no_such_key'],
    ])
  })

  it('a source that cannot be parsed has no parts', () => {
    assert.equal(partsOf('a &&', environment, scope), null)
    assert.deepEqual(remediesFor(true, 'a &&', environment, scope), [])
  })
})

describe('changes that would have been needed', () => {
  const cases: [wanted: boolean, source: string, remedies: string[][]][] = [
    [true, 'request.path == "/admin"', [[]]],
    [true, 'request.path == "/"', [['request.path "/admin" equals "/"']]],
    [false, 'request.path == "/admin"', [['request.path "/admin" differs "/admin"']]],
    [true, 'jwt.sub in ["ann", "bob"]', [['jwt.sub "eve" oneOf ["ann","bob"]']]],
    [true, '"dev" in jwt.groups', [['jwt.groups nothing contains "dev"']]],
    [true, '18 <= jwt.age', [['jwt.age 17 atLeast 18']]],
    [false, 'jwt.age < 18', [['jwt.age 17 atLeast 18']]],
    [true, '!request.path.startsWith("/admin")', [['request.path "/admin" startsOtherwise "/admin"']]],
    [true, 'has(jwt.groups)', [['jwt.groups nothing present']]],
    [true, 'has(jwt.groups) && jwt.groups == "x"', [['jwt.groups nothing equals "x"']]],
    [
      true,
      'request.method == "POST" && request.path == "/" || jwt.sub == "root"',
      [['jwt.sub "eve" equals "root"'], ['request.method "GET" equals "POST"', 'request.path "/admin" equals "/"']],
    ],
    [
      true,
      'jwt.age > 18 ? request.path == "/admin" : request.method == "POST"',
      [['jwt.age 17 greater 18'], ['request.method "GET" equals "POST"']],
    ],
    [true, 'size(jwt.sub) > 5', [['size(jwt.sub) > 5 to be true']]],
    // A change of the read value would break the other operand.
    [true, 'jwt.age > 18 && jwt.age < 18', []],
    [true, 'false', []],
    [true, 'request.path == "/admin" && false', []],
  ]

  for (const [wanted, source, remedies] of cases) {
    it(`${source} to be ${wanted}`, () => {
      assert.deepEqual(
        remediesFor(wanted, source, environment, scope).map((remedy) => remedy.map(inWords)),
        remedies,
      )
    })
  }

  it('applying a remedy makes the expression return the wanted value', () => {
    const name = fc.constantFrom('a', 'b', 'c')
    const text = fc.constantFrom('x', 'xy', 'y')
    const atom = fc.oneof(
      fc.tuple(name, text).map(([of, value]) => `${of} == "${value}"`),
      fc.tuple(name, text).map(([of, value]) => `${of} != "${value}"`),
      fc.tuple(name, text).map(([of, value]) => `${of}.startsWith("${value}")`),
      fc.tuple(name, text, text).map(([of, one, other]) => `${of} in ["${one}", "${other}"]`),
    )
    const { expression } = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { depthSize: 'small' },
        atom,
        tie('expression').map((inner) => `!(${inner})`),
        fc.tuple(tie('expression'), tie('expression')).map(([one, other]) => `(${one} && ${other})`),
        fc.tuple(tie('expression'), tie('expression')).map(([one, other]) => `(${one} || ${other})`),
      ),
    }))
    const values = fc.record({ a: text, b: text, c: text })
    fc.assert(
      fc.property(expression, values, fc.boolean(), (source, given, wanted) => {
        const compiled = compile(source, environment)
        assert.ok(compiled.ok)
        const [first] = remediesFor(wanted, source, environment, given)
        if (first === undefined) return
        const changed = { ...given, ...Object.fromEntries(first.map(({ path, example }) => [path?.[0], example])) }
        assert.equal(compiled.program.evaluate(changed), wanted)
      }),
      { numRuns: 500 },
    )
  })
})

type PartSummary = [string, ...PartSummary[]]

function shown(source: string): PartSummary {
  const part = partsOf(source, environment, scope)
  assert.ok(part)
  return tree(part)
}

function tree({ text, result, parts }: Part): PartSummary {
  const value = isCelError(result) ? `error ${result.kind}` : JSON.stringify(toJson(result))
  return [`${text} → ${value}`, ...parts.map(tree)]
}

function inWords({ text, wanted, path, found, relation, value }: Need): string {
  if (path === null) return `${text} to be ${wanted}`
  const words = [path.join('.'), found === undefined ? 'nothing' : JSON.stringify(toJson(found)), relation]
  return [...words, ...(value === undefined ? [] : [JSON.stringify(toJson(value))])].join(' ')
}
