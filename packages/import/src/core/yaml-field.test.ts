import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { SourceError } from './source.ts'
import { readYaml } from './yaml-field.ts'

const read = (text: string) => readYaml({ name: 'a.yaml', text })
const lines = (text: string, mark: (root: ReturnType<typeof read>) => void): string[] => {
  const root = read(text)
  mark(root)
  return root.reportOf().map(({ verdict, name, at }) => `${at.line}:${at.column} ${verdict} ${name}`)
}

describe('fields of a YAML source', () => {
  test('unread fields are reported at the highest level that nobody read', () => {
    const found = lines('a: { b: 1, c: { d: 2, e: [3, 4] } }\nf: 5\ng: {}\n', (root) =>
      root.get('a')?.get('b')?.carried(),
    )
    assert.deepEqual(found, ['1:6 carried a.b', '1:12 not carried a.c', '2:1 not carried f', '3:1 carried g'])
  })

  test('a mark holds for everything below, and takes the place of older marks there', () => {
    const found = lines('a: { b: 1, c: 2 }\n', (root) => {
      root.get('a')?.get('b')?.carried()
      root.get('a')?.notCarried('no')
      root.get('a')?.get('c')?.carried()
    })
    assert.deepEqual(found, ['1:1 not carried a', '1:12 carried a.c'])
  })

  test('merged mappings, aliases and repeated keys are read as YAML says', () => {
    const { plain } = read('base: &base { a: 1, b: 2 }\nall: { <<: *base, b: 3 }\nagain: *base\ntwice: 1\ntwice: 2\n')
    assert.deepEqual(plain, { base: { a: 1, b: 2 }, all: { b: 3, a: 1 }, again: { a: 1, b: 2 }, twice: 2 })
  })

  test('numbers and flags may be quoted', () => {
    const root = read('a: "7"\nb: 1e-3\nc: "True"\nd: 1.2.3\ne: true\n')
    assert.deepEqual(
      ['a', 'b', 'd', 'e'].map((name) => root.get(name)?.number),
      [7, 0.001, null, null],
    )
    assert.deepEqual([root.get('c')?.isTrue, root.get('a')?.isTrue], [true, false])
  })

  test('broken, deep and huge sources are problems with a location', () => {
    const bomb = `a: &a [1]\n${Array.from(
      { length: 30 },
      (_each, at) =>
        `k${at}: &k${at} [${Array(9)
          .fill(at === 0 ? '*a' : `*k${at - 1}`)
          .join(', ')}]`,
    ).join('\n')}`
    const cases: [string, RegExp][] = [
      ['a: [1', /broken YAML/],
      [`a: ${'['.repeat(80)}${']'.repeat(80)}`, /more than 64 levels/],
      [`a: ${'['.repeat(20_000)}`, /broken YAML/],
      [bomb, /more than/],
      [`a: ${'x'.repeat(5 << 20)}`, /expected at most/],
    ]
    for (const [text, said] of cases) {
      assert.throws(
        () => read(text),
        (error) => error instanceof SourceError && said.test(error.problem.message) && error.problem.at.line >= 1,
      )
    }
  })
})
