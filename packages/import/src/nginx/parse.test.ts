import * as fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SourceError } from '../core/source.ts'
import type { Directive } from './directive.ts'
import { importNginx } from './import-nginx.ts'
import { parseNginx } from './parse.ts'

const parse = (text: string) => parseNginx({ name: 'a.conf', text })
type Plain = [string, ...(string | Plain[])[]]
const plain = ({ name, args, block }: Directive): Plain => [
  name,
  ...args,
  ...(block === null ? [] : [block.map(plain)]),
]

test('words, quotes, escapes, comments and variables are read as nginx reads them', () => {
  const text = `a 'b c' "d\\"e" f\\.g; # no; }\nblock \${x}y { inner ~* \\.php$; }\nempty {}\nq "a;{}#";`
  assert.deepEqual(parse(text).map(plain), [
    ['a', 'b c', 'd"e', 'f\\.g'],
    ['block', '${x}y', [['inner', '~*', '\\.php$']]],
    ['empty', []],
    ['q', 'a;{}#'],
  ])
  assert.deepEqual(parse(text)[1]?.block?.[0]?.at, { file: 'a.conf', line: 2, column: 15 })
})

test('code in blocks of Lua is skipped', () => {
  const [lua, next] = parse('content_by_lua_block { if a then b = { 1; 2 } end }\nnext 1;')
  assert.deepEqual([lua?.name, lua?.block, next?.name], ['content_by_lua_block', [], 'next'])
})

test('broken and deep texts are problems with a location', () => {
  const cases: [string, RegExp][] = [
    ['a b', /found the end of the file, expected ; or \{/],
    ['a {', /expected \}/],
    ['a; }', /found \} without \{/],
    [';', /expected the name of a directive/],
    ['a "b', /within a quoted text/],
    ['a "b"c;', /right after a quoted text/],
    ['a ${b', /within \$\{/],
    ['a {'.repeat(100), /more than 64 levels/],
  ].map(([text, said]) => [String(text), said as RegExp])
  for (const [text, said] of cases) {
    assert.throws(
      () => parse(text),
      (error) => error instanceof SourceError && said.test(error.problem.message) && error.problem.at.line === 1,
    )
  }
})

const words = fc.constantFrom(
  'server',
  'location',
  '/',
  '~',
  '{',
  '}',
  ';',
  ' ',
  '\n',
  '"',
  "'",
  '\\',
  '$',
  '${',
  '#',
  'proxy_pass',
  'http://a:1',
  'listen',
  '80',
)

test('any text is imported, or refused with a location', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(words, { maxLength: 60 }).map((found) => found.join(' ')),
      ),
      (text) => {
        const result = importNginx([{ name: 'a.conf', text }], () => 'none')
        if (!result.ok) return assert.ok(result.problem.at.line >= 1 && result.problem.message !== '')
        const count = (list: readonly Directive[]): number =>
          list.reduce((sum, { block }) => sum + 1 + count(block ?? []), 0)
        assert.equal(result.value.report.length, count(parse(text)))
      },
    ),
    { numRuns: 500 },
  )
})

test('files that include themselves end', () => {
  const source = { name: 'a.conf', text: 'include a.conf;' }
  const result = importNginx([source], () => [source])
  assert.ok(!result.ok && /levels of includes/.test(result.problem.message))
})
