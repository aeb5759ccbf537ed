import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { check } from '../check.ts'
import type { VariableType } from '../declarations.ts'
import { dyn, headers, struct, value } from '../declarations.ts'
import { interpret } from '../emit/interpret.ts'
import { createEnvironment } from '../environment.ts'
import { CelError } from '../error.ts'
import { parse } from '../parse/parser.ts'
import type { Plan } from '../plan.ts'
import { childrenOf } from '../plan-children.ts'
import { typeOfValue } from '../run/type-of-value.ts'
import { describeValue } from '../testing/describe.ts'
import { sources } from '../testing/expressions.ts'
import { includesType } from '../testing/includes-type.ts'
import { richScopes, richSources, richVariables } from '../testing/rich-expressions.ts'
import {
  bool,
  bytes,
  describeType,
  double,
  duration,
  int,
  listOf,
  mapOf,
  mayBe,
  nullType,
  string,
  uint,
} from '../types.ts'
import type { Result } from '../value.ts'
import type { TypeProblem } from './infer.ts'
import { inferTypes } from './infer.ts'
import { resolve } from './resolve.ts'

const variables: Readonly<Record<string, VariableType>> = {
  ...richVariables,
  s: value(string),
  t: value(string),
  i: value(int),
  j: value(int),
  d: value(double),
  e: value(double),
  u: value(uint),
  b: value(bool),
  c: value(bool),
  n: value(nullType),
  y: value(bytes),
  l: value(listOf(int)),
  ls: value(listOf(string)),
  m: value(mapOf(string, int)),
  request: struct({
    path: value(string),
    headers,
    inner: struct({ code: value(int), missing: value(duration, { optional: true }) }),
    gone: struct({ x: dyn }),
  }),
}
const environment = createEnvironment({ variables })

/** The time limit in milliseconds of tests that count their cases, so that the shorter global limit drops none. */
const COUNTED_MS = 60_000
/** The share of all cases that a quick run tries. */
const SHARE = process.env['PROPERTIES'] === 'full' ? 1 : 0.1

describe('cel types of random expressions', () => {
  it('match the values of every part', () => {
    let [known, all] = [0, 0]
    run((plan, scope) => {
      const { types } = inferTypes(plan)
      for (const [part, type] of types) {
        const result = isClosed(part) ? interpret(part, environment.budget)(scope) : new CelError('failed', 'open')
        if (result instanceof CelError) continue
        all++
        if (type !== 'dyn') known++
        const actual = typeOfValue(result)
        assert.ok(includesType(type, actual), `${describeType(actual)} is no ${describeType(type)}`)
      }
    })
    assert.ok(all > 10_000 * SHARE && known > all / 2, `${known} of ${all}`)
  })

  it('reject only expressions that fail or never have the wanted type', () => {
    let refused = 0
    run((plan, scope) => {
      for (const wanted of [bool, string, int, listOf('dyn')]) {
        for (const problem of inferTypes(plan, wanted).problems) {
          if (!isClosed(problem.plan)) continue
          refused++
          const result = interpret(problem.plan, environment.budget)(scope)
          assert.ok(neverWorks(problem, result), `${problem.message}, but it gave ${describeValue(result)}`)
        }
      }
    })
    assert.ok(refused > 2000 * SHARE, `${refused}`)
  })

  function run(judge: (plan: Plan, scope: object) => void): void {
    fc.assert(
      fc.property(fc.oneof(sources, richSources), richScopes, (source, scope) => {
        const parsed = parse(source)
        assert.ok(parsed.ok, source)
        judge(resolve(source, parsed.expr, environment).plan, scope)
      }),
      { seed: 17, numRuns: 3000 * SHARE, interruptAfterTimeLimit: COUNTED_MS },
    )
  }
})

/** Comparisons with a constant result are rejected too. */
function neverWorks({ plan, wanted }: TypeProblem, result: Result): boolean {
  if (result instanceof CelError) return true
  if (wanted !== undefined) return !mayBe(typeOfValue(result), wanted)
  return plan.kind === 'binary' && result === (plan.operator === '!=')
}

/** Whether the plan uses no macro variables of the expressions around it. */
function isClosed(plan: Plan): boolean {
  const [used, bound] = [new Set<number>(), new Set<number>()]
  const collect = (node: Plan): void => {
    if (node.kind === 'local') used.add(node.local)
    else if (node.kind === 'loop') for (const local of node.locals) bound.add(local)
    else if (node.kind === 'bind' || node.kind === 'optionalMap') bound.add(node.local)
    for (const child of childrenOf(node)) collect(child)
  }
  collect(plan)
  return [...used].every((local) => bound.has(local))
}

describe('cel types: rejected expressions and their positions', () => {
  const cases: readonly (readonly [source: string, message: string, column: number])[] = [
    ['request.path', 'found string instead of bool', 9],
    ['size(request.path)', 'found int instead of bool', 1],
    ['request.headers["a"]', 'found string or list(string) instead of bool', 17],
    ['{"a": i}', 'found map(string, int) instead of bool', 1],
    ['b ? s : i', 'found string or int instead of bool', 3],
    ['[1].map(x, x > 0)', 'found list(bool) instead of bool', 5],
    ['default(request.path, "")', 'found string instead of bool', 1],
    ['absent.?x', 'found optional instead of bool', 9],
    ['request.path == 5', '`==` has no overload for string and int', 14],
    ['request.headers["a"] != 5', '`!=` has no overload for string or list(string) and int', 22],
    ['ip("10.0.0.1") == "10.0.0.1"', '`==` has no overload for net.IP and string', 16],
    ['s in ls || 5 in ls', '`in` has no overload for int and list(string)', 14],
    ['s in t', '`in` has no overload for string and string', 3],
    ['s < 5', '`<` has no overload for string and int', 3],
    ['s + 1 == t', '`+` has no overload for string and int', 3],
    ['1 + 1.5 > 2.0', '`+` has no overload for int and double', 3],
    ['b && s', '`&&` takes bools, found string', 6],
    ['!request.path', '`!` takes a bool, found string', 10],
    ['-s == t', '`-` takes an int or a double, found string', 2],
    ['(s ? 1 : 2) == 1', 'the condition of `?:` is a bool, found string', 2],
    ['ls.exists(x, x)', 'a condition is a bool, found string', 14],
    ['ls.exists(x, x > 1)', '`>` has no overload for string and int', 16],
    ['s.exists(x, true)', 'this macro iterates over a list or a map, found string', 1],
    ['s.startsWith(1)', 'found `string.startsWith(int)`, expected `string.startsWith(string)`', 3],
    ['i.startsWith(s)', 'found `int.startsWith(string)`, expected `string.startsWith(string)`', 3],
    ['size(i) == 1', 'found `size(int)`, expected `size(string or bytes or list or map)`', 1],
    ['s.a == "b"', 'string has no field `a`', 3],
    ['s[0] == "b"', 'string has no items', 2],
    ['ls["a"] == "b"', 'list(string) has no item at a string', 3],
    ['has(s.a)', 'string has no field `a`', 1],
    ['{1.5: 2} == {}', 'a key is a string, bool, int or uint, found double', 2],
    ['[?s] == []', '`?` takes an optional, found string', 3],
    ['s.orValue(t) == t', '`or` and `orValue` need an optional, found string', 1],
    ['cel.bind(x, 1, x == s)', '`==` has no overload for int and string', 18],
    ['coalesce(s + 1, b)', '`+` has no overload for string and int', 12],
    ['cidr(5).containsIP(s)', 'found `cidr(int)`, expected `cidr(string or net.CIDR)`', 1],
  ]
  for (const [source, message, column] of cases) {
    it(source, () => {
      const { problems } = check(source, environment, { wants: bool })
      assert.deepEqual(
        problems.map((problem) => [problem.message, problem.position.column]),
        [[message, column]],
      )
    })
  }

  it('reports each mistake once', () => {
    const { problems } = check('(s + 1 == t) && !i\n || request.path', environment, { wants: bool })
    assert.deepEqual(
      problems.map(({ position }) => `${position.line}:${position.column}`),
      ['1:4', '1:18', '2:13'],
    )
  })
})

describe('cel types: accepted expressions', () => {
  const cases = [
    'absent',
    'absent.x',
    'mm.a == 5',
    'mm.a + 1 == 2',
    'mm.a.startsWith("a")',
    'json(y).a > 1.5',
    'dyn(s) == 5',
    '1 == 1.0 && 1u == 1',
    'i > 1.5',
    's == null || n == s',
    'request.headers["a"] == "x"',
    'request.headers["a"] == ["x", "y"]',
    'request.headers["a"].startsWith("x")',
    '"a" in request.headers',
    's in [1, "a"]',
    'default(absent.x, false)',
    'absent.?x.orValue(true)',
    'optional.of(b).value()',
    'fail("no")',
    '[].exists(x, x)',
    'type(i) == int',
    'type(absent) == string || absent == null',
    'coalesce(absent, b)',
    'b ? absent : s',
    'math.greatest(i, d) > 3 && math.abs(-2) == 2',
    'max([1, 2]) == 2',
    'mm.exists(k, v, v == 5 || k == "a")',
    '{"a": 1}.a == 1 && {"a": 1}[s] == 1',
    'variables().request.path == "a"',
  ]
  for (const source of cases) {
    it(source, () => assert.deepEqual(check(source, environment, { wants: bool }).problems, []))
  }

  it('any type, when no type is wanted', () => assert.deepEqual(check('request.path', environment).problems, []))

  it('unknown names, in a lenient environment', () => {
    assert.deepEqual(check('"a" + 1', createEnvironment({ lenient: true }), { wants: bool }).problems, [])
  })
})
