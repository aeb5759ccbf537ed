import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { RE2JS } from 're2js'
import { compileRegex } from './compile-regex.ts'

/** The time limit in milliseconds of tests that count their cases, so that the shorter global limit drops none. */
const COUNTED_MS = 60_000
/** The share of all cases that a quick run tries. */
const SHARE = process.env['PROPERTIES'] === 'full' ? 1 : 0.1

describe('regex: legal patterns', () => {
  for (const pattern of ['(', 'a**', '(?=a)', '(?<!a)b', '\\1', 'a{1001}', '[z-a]', 'a++', '\\u0041']) {
    it(`refuses ${pattern} with a message`, () => {
      const regex = compileRegex(pattern)
      assert.equal(regex.ok, false)
      assert.match(regex.ok ? '' : regex.message, /error parsing regexp/)
    })
  }

  it('must match the whole text', () => {
    assert.equal(fullMatch('/a|/ab', '/ab'), true)
    assert.equal(fullMatch('/a', '/ab'), false)
    assert.equal(fullMatch('b', 'ab'), false)
    assert.equal(fullMatch('^/a$|^/b$', '/b'), true)
    assert.equal(fullMatch('/a$', '/a\n'), false)
    assert.equal(fullMatch('', ''), true)
    assert.equal(fullMatch('', 'a'), false)
  })

  it('means the same in both engines where their dialects differ', () => {
    assert.equal(fullMatch('.', '\r'), true)
    assert.equal(fullMatch('.', '\u2028'), true)
    assert.equal(fullMatch('.', '\n'), false)
    assert.equal(fullMatch('\\s', '\v'), false)
    assert.equal(fullMatch('\\s', '\u00a0'), false)
    assert.equal(fullMatch('.', '😀'), true)
    assert.equal(fullMatch('[^/]', '😀'), true)
    assert.equal(fullMatch('..', '😀'), false)
  })
})

describe('regex: choice of the engine', () => {
  const plain = [
    '/users/[0-9]+',
    '/users/[^/]+/posts/.*',
    '^/api/v[0-9]+(/.*)?$',
    '/static/.*\\.(js|css|png)',
    '/(foo|foobar)/x',
    '.*',
    'Bearer .+?',
    '[a-z]{1,64}@[a-z.]+',
    '\\d{1,3}(\\.\\d{1,3}){3}',
    '([a-z]+/)*[0-9]',
    '[-\\w.]+',
  ]
  for (const pattern of plain) it(`gives ${pattern} to V8`, () => assert.equal(engine(pattern), 'v8'))

  const evil = [
    '(a+)+$',
    '(a*)*',
    '(a|a)*b',
    '(a|ab)*c',
    '(.*)(.*)x',
    '.*.*',
    'x*x*y',
    '/a/.*/b/.*',
    '(a?){20}a{20}',
    'a?a?a?a?a?a?aaaaaa',
    '(a|b|)*c',
    '(a?|b?)(c?|d?)(e?|f?)(g?|h?)(i?|j?)x',
    '([a-z]+/)*x',
    '(a{1,3}){1,3}b',
    '([a-z]{1,20}){1,20}!',
    '(.+)+\\.js',
    '[a-z]{1000}',
    '.*[a-z]{100}',
  ]
  for (const pattern of evil) it(`keeps ${pattern} for RE2`, () => assert.equal(engine(pattern), 're2'))

  const foreign = [
    '(?i)a',
    '(?i:a)',
    '(?s).',
    '(?U)a+',
    'a\\z',
    '\\Aa',
    '\\Qa.b\\E',
    '\\bfoo\\b',
    'a(^)b',
    'a($|b)',
    '[[:alpha:]]',
    '\\pL',
    '\\p{Greek}',
    '(?P<name>a)',
    '(?<name>a)',
    '\\x41',
    '\\x{1F600}',
    '\\n',
    '\\07',
    'é',
    '[é]',
    'a{,3}',
    'a{0}',
    '{',
    '}',
    'a]',
    '[]a]',
    '[a[b]',
  ]
  for (const pattern of foreign) it(`keeps ${pattern} for RE2`, () => assert.equal(engine(pattern), 're2'))

  it('matches an evil pattern against a long hostile text in linear time', () => {
    assert.equal(fullMatch('(a+)+$', `${'a'.repeat(20_000)}b`), false)
    assert.equal(fullMatch('(.*)(.*)x', 'a'.repeat(20_000)), false)
  })
})

describe('regex: searching', () => {
  it('finds a match anywhere, and keeps to the anchors', () => {
    assert.equal(search('ubb', 'hubba'), true)
    assert.equal(search('^ubb', 'hubba'), false)
    assert.equal(search('bba$', 'hubba'), true)
    assert.equal(search('^a$|bb', 'hubba'), true)
    assert.equal(search('^hu.*a$', 'hubba'), true)
    assert.equal(search('.*x', 'hubba'), false)
    assert.equal(search('b+', 'hubba'), true)
    assert.equal(search('', ''), true)
    assert.equal(search('$', 'a'), true)
    assert.equal(search('[^a]$', 'x😀'), true)
  })

  const plain = [
    'abc',
    '^/api/.*',
    '[0-9]+',
    '.*foo.*',
    'gr(a|e)y',
    '\\.(js|css)$',
    '^(a|b)+$',
    'x{2,}',
    '^a|b',
    'a+b',
    '[a-z]+$',
  ]
  for (const pattern of plain) it(`gives ${pattern} to V8`, () => assert.equal(searchEngine(pattern), 'v8'))

  // These patterns are linear from one start, but quadratic from all of them.
  const quadratic = ['xa+b', 'foo.*bar', 'x[a-z]+$', 'x(ab)*c', '^a|xb+c', '(a+)+b+$', '^(a+)+$', 'xa{1,100}b']
  for (const pattern of quadratic) it(`keeps ${pattern} for RE2`, () => assert.equal(searchEngine(pattern), 're2'))

  it('searches a long hostile text in linear time', () => {
    for (const pattern of ['(a+)+$', '^(a+)+$', 'a+b', '(a|aa)+b', 'a?a?a?a?a?a?b']) {
      assert.equal(search(pattern, `${'a'.repeat(20_000)}c`), false)
    }
  })

  it('agrees with RE2 on generated patterns and texts', () => {
    const engines = { v8: 0, re2: 0 }
    const anchored = fc
      .array(fc.tuple(fc.constantFrom('', '', '^'), patterns, fc.constantFrom('', '', '$')), {
        minLength: 1,
        maxLength: 2,
      })
      .map((branches) => branches.map((parts) => parts.join('')).join('|'))
    fc.assert(
      fc.property(anchored, fc.array(texts, { minLength: 1, maxLength: 6 }), (pattern, samples) => {
        const regex = compileRegex(pattern)
        if (!regex.ok) return
        engines[regex.searchEngine]++
        const reference = RE2JS.compile(pattern)
        for (const text of samples) assert.equal(regex.search(text), reference.test(text), `${pattern} on ${text}`)
      }),
      { seed: 22, numRuns: 6000 * SHARE, interruptAfterTimeLimit: COUNTED_MS },
    )
    assert.ok(engines.v8 > 1000 * SHARE && engines.re2 > 500 * SHARE, JSON.stringify(engines))
  })
})

it('regex: reports the size of a compiled pattern', () => {
  const [small, large] = [compileRegex('abc'), compileRegex('(abc){100}')]
  assert.ok(small.ok && large.ok && small.size < 10 && large.size > 300)
})

describe('regex: replacing', () => {
  it('replaces the first match only', () => {
    assert.equal(replaceFirst('a+', 'baab aa', 'x'), 'bxb aa')
    assert.equal(replaceFirst('z', 'abc', 'x'), 'abc')
    assert.equal(replaceFirst('', 'abc', 'x'), 'xabc')
  })

  it('puts groups in, by number and by name', () => {
    assert.equal(replaceFirst('(\\w+)@(?P<host>\\w+)', 'me@here now', '${host}/$1'), 'here/me now')
    assert.equal(replaceFirst('(a)(b)?', 'a!', '[$1$2$9$none]'), '[a]!')
    assert.equal(replaceFirst('a', 'a', '$$ $ $&'), '$ $ $&')
    assert.equal(replaceFirst('😀(.)', 'x😀y', '$1'), 'xy')
  })

  it('never fails on generated replacements', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom(...'$1{}a09_n-'.split('')), maxLength: 12 }),
        texts,
        (replacement, text) => {
          assert.equal(typeof replaceFirst('(?P<a>a)|(b)', text, replacement), 'string')
        },
      ),
      { seed: 23, numRuns: 2000 },
    )
  })
})

describe('regex: both engines agree', () => {
  it('on generated patterns and texts', () => {
    const engines = { v8: 0, re2: 0 }
    fc.assert(
      fc.property(patterns, fc.array(texts, { minLength: 1, maxLength: 6 }), (pattern, samples) => {
        const regex = compileRegex(pattern)
        if (!regex.ok) return
        engines[regex.engine]++
        const reference = RE2JS.compile(pattern)
        for (const text of samples)
          assert.equal(regex.fullMatch(text), reference.matches(text), `${pattern} on ${text}`)
      }),
      { seed: 20, numRuns: 4000 * SHARE, interruptAfterTimeLimit: COUNTED_MS },
    )
    assert.ok(engines.v8 > 1000 * SHARE && engines.re2 > 500 * SHARE, JSON.stringify(engines))
  })

  it('on patterns of arbitrary characters', () => {
    const symbols = fc.constantFrom(...'ab.*+?()[]{}|^$\\-,:1dDwWsS/é'.split(''))
    fc.assert(
      fc.property(fc.string({ unit: symbols, maxLength: 12 }), texts, (pattern, text) => {
        const regex = compileRegex(pattern)
        if (regex.ok) assert.equal(regex.fullMatch(text), RE2JS.compile(pattern).matches(text), `${pattern} on ${text}`)
      }),
      { seed: 21, numRuns: 10_000 * SHARE, interruptAfterTimeLimit: COUNTED_MS },
    )
  })
})

const texts = fc.string({
  unit: fc.constantFrom(
    'a',
    'b',
    'A',
    '0',
    '9',
    '_',
    '-',
    '/',
    '.',
    ' ',
    '\n',
    '\r',
    '\v',
    'é',
    '\u2028',
    '😀',
    '\ud800',
  ),
  maxLength: 7,
})

const patterns = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
  atom: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('a', 'b', '/', '.', '\\.', '\\d', '\\w', '\\s', '\\S', '\\W', '\\D', '\\-'),
    fc.constantFrom('[ab]', '[^a]', '[a-z]', '[^/]', '[\\d-]', '[-a]', '[^\\s/]', '[\\w.]', '[.$^]', '[+-/]', '[!-~]'),
    tie('pattern').map((inner) => `(${inner})`),
    tie('pattern').map((inner) => `(?:${inner})`),
  ),
  pattern: fc
    .array(
      fc
        .array(
          fc
            .tuple(tie('atom'), fc.constantFrom('', '', '', '?', '*', '+', '*?', '+?', '{2}', '{1,2}', '{0,3}', '{1,}'))
            .map(([atom, repeat]) => atom + repeat),
          { maxLength: 4 },
        )
        .map((items) => items.join('')),
      { minLength: 1, maxLength: 2 },
    )
    .map((branches) => branches.join('|')),
})).pattern

function fullMatch(pattern: string, text: string): boolean {
  const regex = compileRegex(pattern)
  assert.ok(regex.ok)
  return regex.fullMatch(text)
}

function search(pattern: string, text: string): boolean {
  const regex = compileRegex(pattern)
  assert.ok(regex.ok)
  return regex.search(text)
}

function searchEngine(pattern: string): string {
  const regex = compileRegex(pattern)
  return regex.ok ? regex.searchEngine : regex.message
}

function replaceFirst(pattern: string, text: string, replacement: string): string {
  const regex = compileRegex(pattern)
  assert.ok(regex.ok)
  return regex.replaceFirst(text, replacement)
}

function engine(pattern: string): string {
  const regex = compileRegex(pattern)
  return regex.ok ? regex.engine : regex.message
}
