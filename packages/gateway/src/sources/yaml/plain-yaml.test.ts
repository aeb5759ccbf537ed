import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { stringify } from 'yaml'
import { locatePlainYaml, readPlainYaml } from './plain-yaml.ts'
import type { Path } from '../../schema/problem.ts'
import { parseWithLocations, parseYaml } from './yaml.ts'

/** The quick reader may give up, but what it reads must be what the full parser reads. */
function compare(text: string): boolean {
  const quick = readPlainYaml(text, () => undefined)
  if (quick === null) return false
  const full = parseWithLocations(text, 'test.yaml', {})
  assert.deepEqual(full.problems, [], text)
  assert.deepEqual(quick.value, full.value, JSON.stringify(text))
  const locate = locatePlainYaml(text, () => undefined)
  for (const path of pathsIn(quick.value)) {
    for (const at of ['key', 'value'] as const) {
      const mark = locate?.(path, at) ?? null
      if (mark === null) continue
      located++
      assert.deepEqual({ file: 'test.yaml', ...mark }, full.locationOf(path, at), JSON.stringify([text, path, at]))
    }
  }
  return true
}

let located = 0

/** Returns the paths of all members, and for each container a path that does not exist. */
function pathsIn(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path, [...path, 'absent', 0]]
  const members: [string | number, unknown][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  return [
    path,
    [...path, 'absent'],
    [...path, 99, 'absent'],
    ...members.flatMap(([step, each]) => pathsIn(each, [...path, step])),
  ]
}

/** The time limit of counted cases, generous for busy machines. */
const COUNTED_MS = 60_000
/** The share of all cases that a quick run tries. */
const SHARE = process.env['PROPERTIES'] === 'full' ? 1 : 0.1

test('ordinary files are read quickly', () => {
  const files = [
    '',
    '# only a comment\n',
    'a: 1\nb:\n- x\n- y: 2\n  z: [1, {k: v}]\n-\n- - \n'.replace('- - \n', '- q\n'),
    'a:\n  b:\n    c: "text # no comment" # comment\n  d: \'it is\'\ne: {}\n',
    'list:\n  - 127.0.0.1:9000\n  - /a/b\n  - -1\n  - 1.50\n  - ~\n  - true\n  - 2020-01-01\nempty:\nnext: x y z\n',
    '- a\n- b\n',
    'a: { "*": { b: ok }, \'127.0.0.1:9000\': [1, x], "": 1 }\n',
  ]
  for (const text of files) assert.ok(compare(text), text)
  assert.ok(located > 100, `only ${located} positions`)
  const examples = new URL('../../../../../examples/', import.meta.url)
  for (const name of readdirSync(examples).filter((file) => /(?<!\.test)\.yaml$/.test(file))) {
    const text = readFileSync(new URL(name, examples), 'utf8').replaceAll(/\$\{[A-Z]+:-(.*?)\}/g, '$1')
    // Keys that are paths are left to the full parser.
    assert.equal(compare(text), name !== 'openapi-tools.yaml', name)
  }
})

test('texts that are not plain are left to the full parser', () => {
  const files = [
    'a: &x 1\nb: *x\n',
    'a: |\n  text\n',
    'a: !!str 1\n',
    'a: [1,\n  2]\n',
    'a: one\n  two\n',
    'a: 1\na: 2\n',
    'a: "x\\n"\n',
    "a: 'it''s'\n",
    'a: b: c\n',
    'a: 0x1f\n',
    '--- \na: 1\n',
    'a: 1\n b: 2\n',
    '- - a\n',
    '"k": 1\n',
    '? a\n: b\n',
    'a:\t1\n',
    'a: {b}\n',
    'a: [a: 1]\n',
    '__proto__: 1\n',
    'text\n',
    '<<: {a: 1}\n',
  ]
  for (const text of files)
    assert.equal(
      readPlainYaml(text, () => undefined),
      null,
      text,
    )
})

test('both parsers agree on printed values', () => {
  const key = fc.stringMatching(/^[a-z][a-zA-Z0-9_.-]{0,8}$/)
  const leaf = fc.oneof(
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.string({ maxLength: 12 }),
    fc.constantFrom('a: b', '# x', '- x', '1', 'true', '~', '{a}', 'a:', ' x', '1e3', '0x1', '${A}'),
  )
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'small' },
      leaf,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(key, tie('tree'), { maxKeys: 4 }),
    ),
  }))
  let quick = 0
  let all = 0
  fc.assert(
    fc.property(tree, fc.constantFrom(0, 80), (value, flowWidth) => {
      all++
      if (compare(stringify(value, { lineWidth: flowWidth }))) quick++
    }),
    { seed: 3, numRuns: 1_000 * SHARE, interruptAfterTimeLimit: COUNTED_MS },
  )
  assert.ok(quick > all / 20, `only ${quick} of ${all} were read quickly`)
})

// oxfmt-ignore
const pieces = [
  'a', 'key', ': ', ':', '- ', '-', '\n', '\n  ', '\n    ', ' ', '{', '}', '[', ']', ', ', ',', '"', "'", '#', ' # c', '1',
  '0', '.', '~', 'null', 'true', '1.5', '-1', '+', '/p', '127.0.0.1:80', '*', '&', '!', '|', '>', '%', '@', '`', '?', '\\',
  '$', '=', '<', '...', '---', 'e3', 'é', '(', ';',
]

test('both parsers agree on texts that are nearly YAML', () => {
  const sound =
    'a: 1\nb:\n- x: [1, {k: v}] # c\n  y: "q"\n- z\nc:\n  d: e f\n  g: {h: 1, i: \'j\'}\n  l:\n    - 1\n    - m: n\n'
  const edit = fc.record({ at: fc.nat(sound.length), remove: fc.nat(3), insert: fc.constantFrom('', ...pieces) })
  let quick = 0
  let all = 0
  fc.assert(
    fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
      let text = sound
      for (const { at, remove, insert } of edits) text = text.slice(0, at) + insert + text.slice(at + remove)
      all++
      if (compare(text)) quick++
    }),
    { seed: 4, numRuns: 5_000 * SHARE, interruptAfterTimeLimit: COUNTED_MS },
  )
  assert.ok(quick > all / 25, `only ${quick} of ${all} were read quickly`)
})

test('both parsers agree on any pieces of YAML', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 14 }), (parts) => {
      compare(parts.join(''))
    }),
    { seed: 5, numRuns: 20_000 },
  )
})

test('both parsers fill in variables alike', () => {
  const text = 'a: ${PORT}\nb: "${PORT}"\nc: \'x-${NAME:-none}\'\nd: [ "${PORT}" ]\ne: $${PORT}\n'
  const env = { PORT: '8080' }
  const expected = { a: 8080, b: '8080', c: 'x-none', d: ['8080'], e: '${PORT}' }
  assert.deepEqual(parseYaml(text, 'test.yaml', env).value, expected)
  assert.deepEqual(parseWithLocations(text, 'test.yaml', env).value, expected)
  assert.equal(parseYaml('a: ${MISSING}\n', 'test.yaml', {}).problems.length, 1)
})
