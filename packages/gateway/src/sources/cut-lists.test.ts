import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { cutLists, placeholderOf } from './cut-lists.ts'

const TEXT = `# head
backends: # named
# before the first

- name: a
  policies:
  - no list of its own
# between
- name: b
  text: |
    routes:
    - none

frontend: {}
binds:
  - port: 1
    listeners:
      - name: web
        routes:
        - name: one
          backends:
          - host: h
        - name: two
      - routes:
          -
            name: three
        policies:
          timeouts: {}
policies:
`

test('items are cut out by their dashes, and nothing else', () => {
  const cut = cutLists(TEXT)
  assert.deepEqual(
    cut?.lists.map((items) => items.map(({ text, row }) => [row, text])),
    [
      [
        [4, '- name: a\n  policies:\n  - no list of its own\n# between\n'],
        [8, '- name: b\n  text: |\n    routes:\n    - none\n\n'],
      ],
      [
        [19, '        - name: one\n          backends:\n          - host: h\n'],
        [22, '        - name: two\n'],
      ],
      [[24, '          -\n            name: three\n']],
    ],
  )
  assert.equal(
    cut?.rest,
    `# head
backends: ${placeholderOf(0)}
# before the first

frontend: {}
binds:
  - port: 1
    listeners:
      - name: web
        routes: ${placeholderOf(1)}
      - routes: ${placeholderOf(2)}
        policies:
          timeouts: {}
policies:`,
  )
  const lines = TEXT.split('\n')
  for (const [index, line] of cut.rest.split('\n').entries()) {
    assert.equal(lines[cut.rows[index]!]!.slice(0, 8), line.slice(0, 8))
  }
})

test('texts that are not laid out in that way are left alone', () => {
  for (const text of ['a: 1\n---\nb: 2\n', 'a:\t1\n', 'a: 1\r\n', `a: ${placeholderOf(0)}\n`, '%YAML 1.2\n---\n']) {
    assert.equal(cutLists(text), null, JSON.stringify(text))
  }
  for (const text of [
    '',
    'routes: [1]\n',
    '{"routes": [{}]}',
    'routes:\n',
    'routes:\n  a: 1\n',
    'routes:\nother:\n- 1\n',
  ]) {
    assert.deepEqual(cutLists(text)?.lists, [], JSON.stringify(text))
  }
})

test('no line is lost or made up', () => {
  const line = fc.constantFrom('routes:', 'backends: # x', '- a', '- routes:', 'b: 1', '# c', '', '-', 'policies:')
  const lines = fc.array(fc.tuple(fc.nat(3), line).map(([dent, text]) => ' '.repeat(dent) + text))
  fc.assert(
    fc.property(lines, (all) => {
      const cut = cutLists(all.join('\n'))
      assert.ok(cut !== null)
      const found = [
        ...cut.rows,
        ...cut.lists.flat().flatMap(({ text, row }) => {
          const count = text.endsWith('\n') ? text.split('\n').length - 1 : text.split('\n').length
          return Array.from({ length: count }, (_, index) => row + index)
        }),
      ].toSorted((one, other) => one - other)
      // An empty last line is no line.
      const count = all.at(-1) === '' || all.length === 0 ? all.length - 1 : all.length
      assert.deepEqual(
        found,
        Array.from({ length: Math.max(0, count) }, (_, index) => index),
      )
    }),
  )
})
