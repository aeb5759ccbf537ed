import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conditionalPolicy } from './fields/conditional.ts'
import { fieldOf, fileOnly, list, object, orListOfOne } from './kit.ts'
import type { Output } from './kit.ts'
import { atMostOneOf, exactlyOneOf, onlyWith } from './rules.ts'
import { editDistance, nearest } from '../formats/suggest.ts'
import { validate } from './validate.ts'
import { integer, string } from './fields/values.ts'

const thing = object(
  {
    name: string({ min: 1, max: 8 }).describe('Name.'),
    size: integer({ min: 1, max: 9 }).prefault(3).describe('Size.'),
    host: string({ max: 8 }).optional().describe('Host.'),
    path: string({ max: 8 }).optional().describe('Path.'),
    port: integer({ min: 1, max: 9 }).optional().describe('Port.'),
    tags: list(string({ max: 4 }).describe('Tag.'), { max: 2 })
      .prefault([])
      .describe('Tags.'),
  },
  [exactlyOneOf('host', 'path'), onlyWith('port', 'host')],
)

function problemsOf(input: unknown) {
  const result = validate(thing, input)
  assert.ok(!result.ok)
  return result.problems
}

test('the type of a parsed value has exactly one of the keys', () => {
  const place = object({ name: string({ max: 9 }).optional(), port: integer({ min: 1, max: 9 }).optional() }, [
    exactlyOneOf('name', 'port'),
  ])
  // Would not compile if both could be undefined.
  const print = ({ name, port }: Output<typeof place>): string => name ?? port.toFixed()
  const read = validate(place, { port: 7 })
  assert.ok(read.ok)
  assert.equal(print(read.value), '7')
  assert.equal(validate(place, {}).ok, false)
})

test('defaults are filled in and types follow', () => {
  const result = validate(thing, { name: 'a', host: 'h' })
  assert.ok(result.ok)
  const value: Output<typeof thing> = result.value
  assert.deepEqual(value, { name: 'a', host: 'h', size: 3, tags: [] })
  const size: number = value.size
  assert.equal(size, 3)
})

test('all problems are reported at once, each with its path', () => {
  const problems = problemsOf({ size: 10, host: 'h', path: 'p', port: 'x', tags: ['a', 5], nme: 'a' })
  assert.deepEqual(
    new Set(problems.map(({ code, path }) => `${code} ${path.join('.')}`)),
    new Set(['conflict path', 'out_of_range size', 'unknown_key nme', 'wrong_type port', 'wrong_type tags.1']),
  )
  assert.equal(problems.find((problem) => problem.code === 'unknown_key')?.suggestion, 'did you mean `name`?')
  const other = problemsOf({ host: 'h', wholly: 'a' }).map(({ code, path }) => `${code} ${path.join('.')}`)
  assert.deepEqual(other.toSorted(), ['missing_key name', 'unknown_key wholly'])
})

test('rules between keys are reported with the key at fault', () => {
  assert.deepEqual(problemsOf({ name: 'a' })[0]?.expected, 'exactly one of `host` or `path`')
  const [broken] = problemsOf({ name: 'a', path: 'p', port: 1 })
  assert.deepEqual([broken?.code, broken?.path, broken?.at], ['conflict', ['port'], 'key'])
  const most = object({ a: string({ max: 1 }).optional(), b: string({ max: 1 }).optional() }, [atMostOneOf('a', 'b')])
  assert.ok(validate(most, {}).ok)
  assert.ok(validate(most, { b: '' }).ok)
  assert.ok(!validate(most, { a: '', b: '' }).ok)
})

test('a name that a list may have once is reported where it stands again', () => {
  const item = object({ name: string({ min: 1, max: 8 }).describe('Name.') })
  const names = object({ all: list(item, { max: 4, uniqueBy: 'name' }).describe('All.') })
  assert.ok(validate(names, { all: [{ name: 'a' }, { name: 'b' }] }).ok)
  const result = validate(names, { all: [{ name: 'a' }, { name: 7 }, null, { name: 'a' }] })
  assert.ok(!result.ok)
  assert.deepEqual(result.problems.map(({ code, path }) => `${code} ${path.join('.')}`).toSorted(), [
    'duplicate all.3.name',
    'wrong_type all.1.name',
    'wrong_type all.2',
  ])
})

test('a value of the wrong shape is one problem', () => {
  for (const input of [null, 5, 'x', []]) assert.equal(problemsOf(input).length, 1, JSON.stringify(input))
  assert.equal(problemsOf({ name: 'a', host: 'h', tags: 'x' })[0]?.expected, 'a list of 0 to 2 items')
  assert.equal(problemsOf({ name: 'a', host: 'h', tags: ['a', 'b', 'c'] })[0]?.code, 'out_of_range')
})

test('keys of the object prototype are unknown keys', () => {
  const input = JSON.parse('{"name":"a","host":"h","__proto__":{"x":1},"constructor":1}') as unknown
  assert.ok(problemsOf(input).some((problem) => problem.code === 'unknown_key'))
})

test('a field is read through its wrappers', () => {
  const field = fieldOf(fileOnly(integer({ min: 0, max: 1 }).prefault(1).describe('One.')))
  assert.deepEqual(
    [field.required, field.default, field.description, field.fileOnly, field.node.kind],
    [false, 1, 'One.', true, 'scalar'],
  )
})

test('a policy with a conditional form has no defaults in its schema: they would stand beside that form', () => {
  const size = integer({ min: 1, max: 9 }).describe('Size.')
  assert.throws(() => conditionalPolicy({ size: size.prefault(3) }), /`size`: let the step have this default/)
  const policy = conditionalPolicy({ size: size.optional() })
  assert.ok(validate(policy, { conditional: [{ policy: { size: 3 } }] }).ok)
  assert.ok(!validate(policy, { size: 3, conditional: [{ policy: {} }] }).ok)
})

test('suggestions are near, never wild', () => {
  assert.equal(nearest('allowOrigin', ['allowOrigins', 'allowMethods']), 'allowOrigins')
  assert.equal(nearest('hsot', ['host', 'port']), 'host')
  assert.equal(nearest('xyz', ['host', 'port']), null)
  assert.equal(editDistance('', 'abc'), 3)
})

test('attributes of a definition do not affect other definitions with the same node', () => {
  const shared = object({ a: integer({ min: 0, max: 1 }) })
  const marked = orListOfOne(fileOnly(shared))
  assert.deepEqual([fieldOf(marked).mayBeList, fieldOf(marked).fileOnly], [true, true])
  assert.deepEqual([fieldOf(shared).mayBeList, fieldOf(shared).fileOnly], [false, false])
})
