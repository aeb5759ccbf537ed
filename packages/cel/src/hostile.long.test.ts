import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { analyse } from './analyse.ts'
import { check } from './check.ts'
import { generate, writeProgram } from './emit/generate.ts'
import { dyn, headers, present, struct } from './declarations.ts'
import { createEnvironment } from './environment.ts'
import { CelError } from './error.ts'
import { quote } from './library/strings.ts'
import { compile } from './program.ts'
import { evaluate, show } from './testing/evaluate.ts'
import { richVariables } from './testing/rich-expressions.ts'
import { HeadersView } from './value.ts'
import type { Result } from './value.ts'

const PROTOTYPE_NAMES = [
  'constructor',
  '__proto__',
  'hasOwnProperty',
  'toString',
  'valueOf',
  'isPrototypeOf',
  '__defineGetter__',
  '__lookupSetter__',
]

class NoHeaders extends HeadersView {
  get(): undefined {
    return undefined
  }

  keys(): Iterable<string> {
    return []
  }
}

describe('hostile names', () => {
  for (const name of PROTOTYPE_NAMES) {
    it(`${name} is read only where the data has it`, () => {
      const data = JSON.parse(`{"own": {"${name}": "mine"}, "bare": {}, "list": [1], "text": "x"}`) as object
      assert.equal(show(`j.own.${name}`, { j: data }), '"mine"')
      assert.equal(show(`j.own["${name}"]`, { j: data }), '"mine"')
      assert.equal(show(`has(j.own.${name})`, { j: data }), 'true')
      assert.equal(show(`"${name}" in j.own`, { j: data }), 'true')
      assert.equal(show(`toJson(j.own)`, { j: data }), JSON.stringify(`{"${name}":"mine"}`))
      assert.equal(show(`j.own.map(k, k)`, { j: data }), `["${name}"]`)
      for (const missing of [`j.bare.${name}`, `j.bare["${name}"]`, `{}.${name}`, `{"a": 1}["${name}"]`]) {
        assert.equal(kindOf(evaluate(missing, { j: data })), 'no_such_key', missing)
      }
      for (const wrong of [
        `j.list.${name}`,
        `j.text.${name}`,
        `"x".${name}`,
        `[1].${name}`,
        `1.${name}`,
        `b"x".${name}`,
      ]) {
        assert.equal(kindOf(evaluate(wrong, { j: data })), 'no_such_overload', wrong)
      }
      assert.equal(show(`has(j.bare.${name})`, { j: data }), 'false')
      assert.equal(show(`"${name}" in j.bare`, { j: data }), 'false')
      assert.equal(show(`j.bare.?${name}.orValue("none")`, { j: data }), '"none"')
    })

    it(`${name} as a variable exists only when it is declared and given`, () => {
      assert.match(check(name, createEnvironment()).problems[0]!.message, /unknown variable/)
      // An object literal would set the prototype.
      const environment = createEnvironment({ variables: Object.fromEntries([[name, dyn]]) })
      assert.equal(show(name, {}, environment), 'null')
      assert.equal(show(name, Object.fromEntries([[name, 7]]), environment), 'int 7')
      assert.equal(show(`[1].map(${name}, ${name} + 1)`, {}, environment), '[int 2]')
      assert.equal(show(`cel.bind(${name}, 3, ${name})`, {}, environment), 'int 3')
      assert.match(check(`${name}(1)`, environment).problems[0]!.message, /unknown function/)
      assert.match(check(`"a".${name}()`, environment).problems[0]!.message, /unknown function/)
    })

    it(`${name} as a field or header of the host exists only when it is declared`, () => {
      const environment = createEnvironment({
        variables: { request: struct({ path: present, headers }), odd: struct(Object.fromEntries([[name, dyn]])) },
      })
      const scope = { request: { path: '/', headers: new NoHeaders() }, odd: {} }
      assert.match(check(`request.${name}`, environment).problems[0]!.message, /has no field/)
      assert.equal(kindOf(evaluate(`request.headers.${name}`, scope, environment)), 'no_such_key')
      assert.equal(kindOf(evaluate(`cel.bind(r, request, r.${name})`, scope, environment)), 'no_such_key')
      assert.equal(kindOf(evaluate(`odd.${name}`, scope, environment)), 'no_such_key')
      const given = { ...scope, odd: Object.fromEntries([[name, 'given']]) }
      assert.equal(show(`odd.${name}`, given, environment), '"given"')
    })
  }

  it('a polluted Object.prototype adds nothing', () => {
    const prototype = Object.prototype as Record<string, unknown>
    prototype['polluted'] = 'bad'
    try {
      assert.equal(kindOf(evaluate('j.polluted', { j: JSON.parse('{"a": 1}') as object })), 'no_such_key')
      assert.equal(show('has(j.polluted)', { j: {} }), 'false')
      assert.equal(show('j.polluted', { j: JSON.parse('{"polluted": 1}') as object }), 'int 1')
    } finally {
      delete prototype['polluted']
    }
  })

  it('internals of values cannot be reached', () => {
    for (const source of [
      '[1].length',
      '"a".length',
      'b"a".byteLength',
      'timestamp(0).seconds',
      'duration("1s").nanos',
      'type(1).name',
      '1u.value',
      '1.0.value',
      'ip("10.0.0.1").bits',
      'cidr("10.0.0.0/8").prefixLength',
    ]) {
      assert.equal(kindOf(evaluate(source)), 'no_such_overload', source)
    }
    assert.equal(kindOf(evaluate('{"a": 1}.size')), 'no_such_key')
    assert.equal(kindOf(evaluate('h.anything', { h: new NoHeaders() })), 'no_such_key')
    class Foreign {
      secret = 'x'
    }
    assert.equal(kindOf(evaluate('f.secret', { f: new Foreign() })), 'no_such_overload')
    assert.equal(kindOf(evaluate('f.secret', { f: () => 'x' })), 'no_such_overload')
  })
})

describe('breaking out of the generated code', () => {
  const texts = [
    '"',
    "'",
    '`',
    '\\',
    '\\"',
    '${globalThis.broken = 1}',
    '"); globalThis.broken = 1; ("',
    "'); globalThis.broken = 1; ('",
    '*/ globalThis.broken = 1 /*',
    '// ',
    '\u2028globalThis.broken = 1\u2029',
    '\n\r globalThis.broken = 1',
    '</script>',
    '\u0000',
    '#{}',
    ']]>',
    'é😀\ufeff',
  ]
  for (const text of texts) {
    it(`${JSON.stringify(text)} stays a text`, () => {
      const literal = quote(text)
      assert.equal(evaluate(literal), text)
      assert.equal(evaluate(`x + ${literal}`, { x: '' }), text)
      assert.equal(evaluate(`{${literal}: 1}[x]`, { x: text }), 1)
      assert.equal(evaluate(`x[${literal}]`, { x: Object.fromEntries([[text, 2]]) }), 2)
      assert.equal(evaluate(`has(x[${literal}])`, { x: {} }), false)
      assert.equal(evaluate(`x == ${literal} && [${literal}].exists(v, v == x)`, { x: text }), true)
      assert.equal(evaluate(`x.startsWith(${literal})`, { x: text }), true)
      assert.equal(Reflect.get(globalThis, 'broken'), undefined)
    })
  }

  it('names and texts get into the code as JSON only', () => {
    const environment = createEnvironment({ variables: { x: dyn } })
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 30 }), (text) => {
        const literal = quote(text)
        const written = (key: string): string =>
          writeProgram(analyse(`x[${key}] == ${key}`, environment).plan!, 1000).source
        // Both sources have the same length, so that positions are the same.
        const plain = `"${'q'.repeat(literal.length - 2)}"`
        fc.pre(!(text.toWellFormed() in Object.prototype))
        assert.equal(written(literal).replaceAll(JSON.stringify(text.toWellFormed()), plain), written(plain))
      }),
      { seed: 60, numRuns: 1000 },
    )
  })
})

describe('size and depth', () => {
  const environment = createEnvironment({ variables: { x: dyn } })
  const deep: Readonly<Record<string, (depth: number) => string>> = {
    brackets: (depth) => '('.repeat(depth) + '1' + ')'.repeat(depth),
    lists: (depth) => '['.repeat(depth) + ']'.repeat(depth),
    maps: (depth) => '{1: '.repeat(depth) + '1' + '}'.repeat(depth),
    not: (depth) => '!'.repeat(depth) + 'true',
    minus: (depth) => '-'.repeat(depth) + 'x',
    fields: (depth) => 'x' + '.x'.repeat(depth),
    indexes: (depth) => 'x' + '[0]'.repeat(depth),
    'inner indexes': (depth) => 'x['.repeat(depth) + '0' + ']'.repeat(depth),
    sums: (depth) => '1' + '+x'.repeat(depth),
    conditions: (depth) => 'x?1:'.repeat(depth) + '1',
    'inner conditions': (depth) => 'x?('.repeat(depth) + '1' + '):2'.repeat(depth),
    calls: (depth) => 'type('.repeat(depth) + '1' + ')'.repeat(depth),
    methods: (depth) => '""' + '.trim()'.repeat(depth),
    loops: (depth) => '[1].map(v,'.repeat(depth) + 'v' + ')'.repeat(depth),
    'loops of loops': (depth) => 'x' + '.map(v,v)'.repeat(depth),
    binds: (depth) => 'cel.bind(v,1,'.repeat(depth) + 'v' + ')'.repeat(depth),
    and: (depth) => '(x&&'.repeat(depth) + 'x' + ')'.repeat(depth),
    optionals: (depth) => 'x' + '.?x'.repeat(depth),
    defaults: (depth) => 'default(x,'.repeat(depth) + '1' + ')'.repeat(depth),
  }
  for (const [name, build] of Object.entries(deep)) {
    it(`${name}: too deep is a problem, deep enough runs as generated code`, () => {
      const source = build(5000).slice(0, 16_384)
      assert.notDeepEqual(check(source, environment).problems, [])
      const fitting = build(150)
      const { plan, problems } = analyse(fitting, environment)
      assert.deepEqual(problems, [])
      for (const x of [undefined, true, [0], { x: 1 }, 5]) {
        assert.notEqual(kindOf(generate(plan!, 100_000)({ x })), 'internal')
      }
    })
  }

  it('long chains of && and || are one level', () => {
    for (const [operator, value] of [
      ['&&', 'true'],
      ['||', 'false'],
    ] as const) {
      const source = Array.from({ length: 2000 }, () => 'x').join(operator)
      assert.equal(evaluate(source, { x: value === 'true' }), value === 'true')
      assert.equal(evaluate(`${source}${operator}${value === 'true' ? 'false' : 'true'}`, { x: 1 }), value !== 'true')
    }
  })

  it('refuses long sources and numbers, takes long literals', () => {
    assert.match(check('1'.repeat(16_385), environment).problems[0]!.message, /at most 16384/)
    assert.match(check('1'.repeat(16_384), environment).problems[0]!.message, /out of range/)
    assert.equal(evaluate(`"${'a'.repeat(16_000)}"`), 'a'.repeat(16_000))
    assert.equal(evaluate(`size([${'1,'.repeat(8000)}])`), 8000)
    assert.equal(evaluate(`size([${'x,'.repeat(8000)}])`, { x: 1 }), 8000)
    assert.equal(evaluate(`size({${Array.from({ length: 1500 }, (_, i) => `${i}: x`).join()}})`, { x: 1 }), 1500)
  })
})

describe('the budget', () => {
  const list = Array.from({ length: 2000 }, (_, i) => i)
  const text = 'ab'.repeat(500_000)
  const scope = { l: list, s: text, big: Object.fromEntries(list.map((i) => [`k${i}`, i])), pattern: '(a+)+$' }
  for (const source of [
    'l.all(a, l.all(b, l.all(c, a + b + c >= 0)))',
    'l.map(a, l.map(b, l.map(c, 1)))',
    'l.exists(a, l.exists(b, l.exists(c, false)))',
    'l.exists_one(a, l.exists_one(b, l.exists_one(c, c < 0)))',
    'l.filter(a, l.filter(b, l.filter(c, true) == []) == [])',
    'l.transformMap(k, v, l.transformList(i, w, l.map(c, c)))',
    'l.map(a, l == l.map(b, b))',
    'l.map(a, s.contains("x"))',
    'l.map(a, s + "x")',
    'l.map(a, s.size())',
    'l.map(a, s.split("a"))',
    'l.map(a, s.replace("a", "b"))',
    'l.map(a, s.upperAscii())',
    'l.map(a, s.trim())',
    'l.map(a, s.reverse())',
    'l.map(a, s.matches("a+b+c"))',
    'l.map(a, s.matches("b$"))',
    'l.map(a, s < s + "x")',
    'l.map(a, bytes(s))',
    'l.map(a, base64.encode(s))',
    'l.map(a, [s].join())',
    'l.map(a, json(toJson(s)))',
    'l.map(a, "%s".format([s]))',
    'l.map(a, l.map(b, big))',
    'l.map(a, l.map(b, big.size()))',
    'l.map(a, size(toJson(l.map(x, big))))',
    'l.map(a, l.exists(b, b in l.map(c, -c - 1)))',
    'l.map(a, l + l)',
    'l.map(a, big.merge(big))',
    'l.map(a, flattenRecursive(big))',
    'l.map(a, form.encode({"a": s}))',
    'l.map(a, s.regexReplace("b+c", ""))',
    'l.map(a, "x".matches(string(a) + "x{1,500}"))',
    'l.map(a, math.greatest(l))',
  ]) {
    it(`ends ${source}`, () => {
      assert.equal(kindOf(evaluate(source, scope)), 'budget')
    })
  }

  it('ends values that double', () => {
    const doubled = (start: string): string =>
      Array.from({ length: 60 }, (_, i) => `cel.bind(v${i + 1}, v${i} + v${i}, `).reduce(
        (all, part) => all + part,
        `cel.bind(v0, ${start}, `,
      ) +
      'size(v60)' +
      ')'.repeat(61)
    for (const start of ['x', 'y', 'z', 'w']) {
      const result = evaluate(doubled(start), { x: 'ab', y: [1, 2], z: new Uint8Array(2), w: ['a'] })
      assert.equal(kindOf(result), 'budget', start)
    }
  })

  it('is each evaluation’s own', () => {
    const environment = createEnvironment({ variables: { l: dyn }, budget: 3000 })
    const compiled = compile('l.all(v, v >= 0)', environment)
    assert.ok(compiled.ok)
    for (let i = 0; i < 5; i++) assert.equal(compiled.program.evaluate({ l: list }), true)
    assert.equal(kindOf(compiled.program.evaluate({ l: [...list, ...list] })), 'budget')
    assert.equal(compiled.program.evaluate({ l: list }), true)
  })

  it('is not renewed by a host that evaluates while it is read', () => {
    const environment = createEnvironment({ variables: { l: dyn, inner: dyn }, budget: 1000 })
    const inner = compile('l.map(v, v)', environment)
    const outer = compile('l.map(v, inner)', environment)
    assert.ok(inner.ok && outer.ok)
    const small = { l: [1, 2, 3] }
    const scope = {
      l: list,
      get inner() {
        return inner.program.evaluate(small)
      },
    }
    assert.equal(kindOf(outer.program.evaluate(scope)), 'budget')
  })

  it('does not end one loop over a large list', () => {
    const large = Array.from({ length: 100_000 }, (_, i) => i)
    assert.equal(evaluate('l.filter(v, v % 2 == 0).map(v, v * 2).size()', { l: large }), 50_000)
    assert.equal(evaluate('s.contains("b") && !s.matches("^(b|ab)*$")', { s: `${text}c` }), true)
  })
})

describe('patterns', () => {
  it('evil ones are answered in linear time', () => {
    const s = `${'a'.repeat(100_000)}!`
    for (const pattern of ['(a+)+$', '(a|a)*b', '(a|aa)+$', '(.*)(.*)(.*)x', '^(a+)+$', 'a*a*a*b', '(a?){50}a{50}b']) {
      assert.equal(evaluate(`s.matches(${quote(pattern)})`, { s }), false, pattern)
      assert.equal(evaluate('s.matches(p)', { s, p: pattern }), false, pattern)
    }
  })

  it('illegal ones are refused at load, or fail when they are data', () => {
    for (const pattern of ['(', '(?=a)', '\\1', '[z-a]', 'a{1001}']) {
      assert.equal(check(`"a".matches(${quote(pattern)})`, createEnvironment()).problems.length, 1, pattern)
      assert.equal(kindOf(evaluate('"a".matches(p)', { p: pattern })), 'bad_value', pattern)
    }
  })
})

describe('arbitrary input', () => {
  const environment = createEnvironment({ variables: richVariables })
  const tokens = fc.constantFrom(
    ...'( ) [ ] { } . , ? : ! - + * / % < > == != && || in "a" \'b\' b"c" r"d" """e""" 1 2u 0x1f 1.5 .5 1e9 true null x s l m'.split(
      ' ',
    ),
    ...'has size map filter all exists cel.bind default request request.headers .?a [?0] `q r` // \n \t $ \\ # @ ; " \' ` é 😀'.split(
      ' ',
    ),
  )
  const garbage = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc.array(tokens, { maxLength: 30 }).map((parts) => parts.join(' ')),
    fc.array(tokens, { maxLength: 30 }).map((parts) => parts.join('')),
    fc.uint8Array({ maxLength: 60 }).map((bytes) => String.fromCharCode(...bytes)),
  )

  it('is a program or has problems with a position; nothing is thrown', () => {
    let programs = 0
    fc.assert(
      fc.property(garbage, (source) => {
        const { problems, references } = check(source, environment)
        const compiled = compile(source, environment)
        // Type problems do not prevent compilation.
        assert.ok(compiled.ok || problems.length > 0)
        for (const { message, position } of problems) {
          assert.ok(message.length > 0)
          assert.ok(position.offset >= 0 && position.offset <= source.length, source)
          assert.equal(source.split('\n').length >= position.line, true)
        }
        if (!compiled.ok) return
        programs++
        assert.deepEqual(compiled.program.references, references)
        assert.notEqual(kindOf(compiled.program.evaluate({ s: 'a', l: [1], m: {} })), 'internal', source)
      }),
      { seed: 61, numRuns: 20_000 },
    )
    assert.ok(programs > 200, `${programs} programs`)
  })

  it('in the scope: evaluation does not throw', () => {
    const throwing = Object.defineProperty({}, 'x', {
      get() {
        throw new Error('secret data')
      },
    })
    const strange: unknown[] = [
      throwing,
      new Proxy({}, { get: throwAny, getPrototypeOf: throwAny, has: throwAny, ownKeys: throwAny }),
      Symbol('s'),
      () => 1,
      new Date(0),
      new WeakMap(),
      Object.create({ x: 1 }),
      Object.create(null),
      [undefined, Array<number>(2), null],
      new Set([1]),
      Object.freeze({ x: undefined }),
      Promise.resolve(1),
      new Error('e'),
      JSON.parse('['.repeat(5000) + ']'.repeat(5000)),
      NaN,
      undefined,
    ]
    const uses = [
      'v',
      'v.x',
      'v["x"]',
      'v[0]',
      'has(v.x)',
      'v == v',
      'v == w',
      'v in [v]',
      'v.map(i, i)',
      'v.exists(i, i == 1)',
      'size(v)',
      'string(v)',
      'toJson(v)',
      'type(v)',
      '"%s".format([v])',
      'v + v',
      'v < v',
      'flattenRecursive(v)',
      'v.?x',
      'default(v, 1)',
      '{"a": v}.a',
      'v ? 1 : 2',
      'v && true',
      'optional.ofNonZeroValue(v)',
      'v.merge(v)',
      'form.encode(v)',
      'variables()',
    ]
    const declared = createEnvironment({ variables: { v: dyn, w: dyn } })
    const programs = uses.map((source) => compile(source, declared))
    for (const v of strange) {
      for (const compiled of programs) {
        assert.ok(compiled.ok)
        const result = compiled.program.evaluate({ v, w: structuredCloneOr(v) })
        // The value itself may be returned, and must not be inspected.
        if (result !== v && result instanceof CelError) assert.ok(!result.message.includes('secret'))
      }
    }
  })
})

function throwAny(): never {
  throw new Error('secret data')
}

function structuredCloneOr(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value
  }
}

function kindOf(result: Result): string {
  return result instanceof CelError ? result.kind : typeof result
}
