import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { boolean, enumeration, integer, string } from './fields/values.ts'
import { list, map, object, type Schema } from './kit.ts'
import { readQuickly, UNREAD } from './quick-read.ts'
import { atMostOneOf, onlyWith } from './rules.ts'
import { zodOf } from './zod.ts'

const NAMES = ['a', 'b', 'c'] as const
const name = fc.constantFrom(...NAMES)

const scalars = fc.constantFrom<() => Schema>(
  () => string({ min: 1, max: 3 }),
  () => integer({ min: 0, max: 9 }),
  () => enumeration(['One', 'Two']),
  boolean,
)

/** Definitions of any shape. */
const definitions = fc.letrec<{ schema: Schema; field: Schema }>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalars.map((make) => make()),
    fc
      .tuple(tie('schema'), fc.integer({ min: 0, max: 1 }), fc.boolean())
      .map(([item, min, isUnique]) => list(item, { min, max: 3, ...(isUnique && { uniqueBy: 'a' }) })),
    fc.tuple(tie('schema'), fc.integer({ min: 0, max: 1 })).map(([value, min]) => map(value, { min, max: 2 })),
    fc
      .tuple(fc.dictionary(name, tie('field')), fc.subarray([atMostOneOf('a', 'b'), onlyWith('b', 'c')]))
      .map(([shape, rules]) => object(shape, rules)),
  ),
  field: fc
    .tuple(tie('schema'), fc.constantFrom('required', 'optional', 'default', 'both'), fc.constantFrom('x', 1, {}, []))
    .map(([schema, kind, value]) => {
      if (kind === 'optional') return schema.optional().describe('Left out.')
      if (kind === 'default') return schema.prefault(value)
      return kind === 'both' ? schema.prefault(value).optional() : schema
    }),
})).schema

const inputs = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('x', 'One', 'two', '', 1, 0, true, null, -1, 'long'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof({ weight: 9, arbitrary: name }, { weight: 1, arbitrary: fc.constantFrom('z', '__proto__') }),
      tie('value'),
    ),
  ),
})).value

test('readQuickly reads the same value as Zod, with keys in the same order', () => {
  fc.assert(
    fc.property(definitions, inputs, (schema, input) => {
      const quick = readQuickly(schema, input)
      if (quick === UNREAD) return
      const parsed = zodOf(schema).safeParse(input)
      assert.ok(parsed.success)
      assert.deepEqual(quick, parsed.data)
      assert.equal(JSON.stringify(quick), JSON.stringify(parsed.data))
    }),
    { seed: 7, numRuns: 5_000 },
  )
})

test('an absent key gets its default, in the order of the definition', () => {
  const schema = object({
    text: string({ max: 3 }),
    many: list(object({ a: integer({ min: 0, max: 9 }).prefault(4) }), { max: 2 }).optional(),
    named: map(boolean(), { max: 2 }).prefault({}),
  })
  const input = { many: [{}, { a: 1 }], text: 'x' }
  assert.deepEqual(readQuickly(schema, input), { text: 'x', many: [{ a: 4 }, { a: 1 }], named: {} })
  assert.deepEqual(Object.keys(readQuickly(schema, input)), ['text', 'many', 'named'])
})

test('a default is a new value each time', () => {
  const schema = object({ named: map(boolean(), { max: 2 }).prefault({ a: true }) })
  const values = [readQuickly(schema, {}), readQuickly(schema, {})].map((value) =>
    typeof value === 'symbol' ? null : value.named,
  )
  assert.deepEqual(values, [{ a: true }, { a: true }])
  assert.notEqual(values[0], values[1])
})
