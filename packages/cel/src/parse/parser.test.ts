import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { describeValue } from '../testing/describe.ts'
import type { Expr } from './ast.ts'
import { parse } from './parser.ts'

describe('cel parser: precedence', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['a || b && c', '(a || (b && c))'],
    ['a && b || c && d', '((a && b) || (c && d))'],
    ['a || b || c', '(a || b || c)'],
    ['a ? b : c ? d : e', '(a ? b : (c ? d : e))'],
    ['a || b ? c : d', '((a || b) ? c : d)'],
    ['a == b && c != d', '((a == b) && (c != d))'],
    ['a < b == c', '((a < b) == c)'],
    ['a in b + c', '(a in (b + c))'],
    ['a + b * c - d', '((a + (b * c)) - d)'],
    ['a / b % c', '((a / b) % c)'],
    ['-a.b', '(-a.b)'],
    ['!a.b(c)', '(!a.b(c))'],
    ['--1', '(-int -1)'],
    ['-1.5', 'double -1.5'],
    ['- 1', 'int -1'],
    ['1-1', '(int 1 - int 1)'],
    ['a.b[c].d(e, f)', 'a.b[c].d(e, f)'],
    ['a.?b[?c]', 'a.?b[?c]'],
    ['.a.b', '.a.b'],
    ['a.`x-y/z.w`', 'a.x-y/z.w'],
    ['[1, ?a, ]', '[int 1, ?a]'],
    ['{a: 1, ?"b": c, }', '{a: int 1, ?"b": c}'],
    ['(a)', 'a'],
    ['a // the rest\n + b', '(a + b)'],
    ['a\t+\r\n\fb', '(a + b)'],
    ['42.f()', 'int 42.f()'],
    ['a.in_ + inn', '(a.in_ + inn)'],
    ['a.if.while.package()', 'a.if.while.package()'],
  ]
  for (const [source, expected] of cases) it(source, () => assert.equal(shape(source), expected))
})

describe('cel parser: literals', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['0', 'int 0'],
    ['9223372036854775807', 'int 9223372036854775807'],
    ['-9223372036854775808', 'int -9223372036854775808'],
    ['0xFF', 'int 255'],
    ['-0x10', 'int -16'],
    ['18446744073709551615u', 'uint 18446744073709551615'],
    ['0x1U', 'uint 1'],
    ['1.0', 'double 1'],
    ['.5', 'double 0.5'],
    ['1e3', 'double 1000'],
    ['1.5E-3', 'double 0.0015'],
    ['"a\\n\\x41\\u00e9\\U0001F600\\101\\`"', JSON.stringify('a\nAé😀A`')],
    ["'it''s'.x", ''],
    ['"""a\n"b" """', JSON.stringify('a\n"b" ')],
    ["r'\\n'", JSON.stringify('\\n')],
    ['b"\\xff\\377é"', 'bytes 255 255 195 169'],
    ['bR"\\x"', 'bytes 92 120'],
    ['true', 'true'],
    ['null', 'null'],
  ]
  for (const [source, expected] of cases) {
    it(source, () =>
      expected === '' ? assert.match(problem(source), /unexpected/) : assert.equal(shape(source), expected),
    )
  }

  it('reads back every text that is quoted by JSON, but for lone surrogates', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        const source = JSON.stringify(text).replaceAll('\\/', '/')
        assert.equal(shape(source), describeValue(text))
      }),
      { seed: 70, numRuns: 2000 },
    )
  })
})

describe('cel parser: problems', () => {
  const cases: readonly (readonly [string, RegExp, string])[] = [
    ['', /unexpected end/, '1:1'],
    ['a +', /unexpected end/, '1:4'],
    ['a b', /unexpected `b`/, '1:3'],
    ['(a', /unexpected end of the expression, expected `\)`/, '1:3'],
    ['a\n  ==', /unexpected end/, '2:5'],
    ['a.b(', /unexpected end/, '1:5'],
    ['f(a,)', /unexpected `\)`/, '1:5'],
    ['[,]', /unexpected `,`/, '1:2'],
    ['{1}', /expected `:`/, '1:3'],
    ['a ? b', /expected `:`/, '1:6'],
    ['"abc', /no closing quotes/, '1:1'],
    ['"a\nb"', /line break/, '1:3'],
    ['"\\q"', /escape/, '1:2'],
    ['"\\ud800"', /escape/, '1:2'],
    ['"\\U00110000"', /escape/, '1:2'],
    ['b"\\u0041"', /escape/, '1:3'],
    ['"\\x4"', /escape/, '1:2'],
    ['9223372036854775808', /out of range/, '1:1'],
    ['-9223372036854775809', /out of range/, '1:2'],
    ['18446744073709551616u', /out of range/, '1:1'],
    ['1abc', /ends in letters/, '1:2'],
    ['a.1', /unexpected `\.1`/, '1:2'],
    ['a.true', /expected the name of a field/, '1:3'],
    ['while', /reserved word/, '1:1'],
    ['in', /reserved word/, '1:1'],
    ['a = b', /unexpected character "="/, '1:3'],
    ['a & b', /unexpected character "&"/, '1:3'],
    ['é', /unexpected character "é"/, '1:1'],
    ['😀', /unexpected character "😀"/, '1:1'],
    ['a.`b c', /unexpected character "`"/, '1:3'],
    ['Message{a: 1}', /write a map/, '1:8'],
    ['a.b.Message{}', /write a map/, '1:12'],
  ]
  for (const [source, message, place] of cases) {
    it(JSON.stringify(source), () => {
      const parsed = parse(source)
      assert.ok(!parsed.ok)
      assert.match(parsed.problem.message, message)
      assert.equal(`${parsed.problem.position.line}:${parsed.problem.position.column}`, place)
    })
  }
})

function problem(source: string): string {
  const parsed = parse(source)
  return parsed.ok ? '' : parsed.problem.message
}

function shape(source: string): string {
  const parsed = parse(source)
  assert.ok(parsed.ok, parsed.ok ? '' : parsed.problem.message)
  return write(parsed.expr)
}

function write(expr: Expr): string {
  switch (expr.kind) {
    case 'literal':
      return describeValue(expr.value)
    case 'name':
      return (expr.absolute ? '.' : '') + expr.name
    case 'select':
      return `${write(expr.operand)}.${expr.optional ? '?' : ''}${expr.field}`
    case 'index':
      return `${write(expr.operand)}[${expr.optional ? '?' : ''}${write(expr.key)}]`
    case 'call': {
      const args = expr.args.map(write).join(', ')
      return expr.target === null ? `${expr.name}(${args})` : `${write(expr.target)}.${expr.name}(${args})`
    }
    case 'logic':
      return `(${expr.items.map(write).join(` ${expr.operator} `)})`
    case 'unary':
      return `(${expr.operator}${write(expr.operand)})`
    case 'binary':
      return `(${write(expr.left)} ${expr.operator} ${write(expr.right)})`
    case 'conditional':
      return `(${write(expr.test)} ? ${write(expr.yes)} : ${write(expr.no)})`
    case 'list':
      return `[${expr.items.map(({ value, optional }) => (optional ? '?' : '') + write(value)).join(', ')}]`
    case 'map': {
      const entries = expr.entries.map(
        ({ key, value, optional }) => `${optional ? '?' : ''}${write(key)}: ${write(value)}`,
      )
      return `{${entries.join(', ')}}`
    }
  }
}
