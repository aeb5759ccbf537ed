import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Ajv } from 'ajv'
import * as fc from 'fast-check'
import { isObject } from '@portico/http/json'
import type { Json, JsonObject } from '../../middle.ts'
import type { SchemaReader } from './flatten-schema.ts'
import { normaliseParameters, normaliseSchema } from './normalise-schema.ts'

function readerOf(root: JsonObject, left = 1_000_000): SchemaReader {
  return { root, budget: { left }, dropped: new Set(), isOrdered: false }
}

function normalised(root: JsonObject): JsonObject {
  return normaliseSchema(readerOf(root))
}

function droppedFrom(root: JsonObject): string[] {
  const reader = readerOf(root)
  normaliseSchema(reader)
  return [...reader.dropped].toSorted()
}

const ANYTHING = normalised({})

test('types are written in capitals, with the keywords that belong to them', () => {
  assert.deepEqual(
    normalised({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      title: 'Order',
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 9, pattern: '^a', description: 'who' },
        when: { type: 'string', format: 'date-time' },
        count: { type: 'integer', minimum: 1, exclusiveMaximum: 10, format: 'int32' },
        price: { type: 'number', exclusiveMinimum: 0, maximum: 5 },
        tags: { type: 'array', items: { type: 'string' }, minItems: 1, maxItems: 3 },
        paid: { type: 'boolean' },
      },
      required: ['name', 'unknown'],
    }),
    {
      type: 'OBJECT',
      title: 'Order',
      properties: {
        name: { type: 'STRING', description: 'who', minLength: 1, maxLength: 9, pattern: '^a' },
        when: { type: 'STRING', format: 'date-time' },
        count: { type: 'INTEGER', format: 'int32', minimum: 1, maximum: 9 },
        price: { type: 'NUMBER', minimum: 0, maximum: 5 },
        tags: { type: 'ARRAY', items: { type: 'STRING' }, minItems: 1, maxItems: 3 },
        paid: { type: 'BOOLEAN' },
      },
      required: ['name'],
    },
  )
})

test('null is said by nullable, however it was written', () => {
  const expected = { type: 'STRING', nullable: true }
  assert.deepEqual(normalised({ type: ['string', 'null'] }), expected)
  assert.deepEqual(normalised({ anyOf: [{ type: 'string' }, { type: 'null' }] }), expected)
  assert.deepEqual(normalised({ oneOf: [{ type: 'string' }, { const: null }] }), expected)
  assert.deepEqual(normalised({ type: 'string', nullable: true }), expected)
  assert.deepEqual(normalised({ enum: ['a', null] }), { ...expected, enum: ['a'] })
  assert.deepEqual(normalised({ type: 'null' }), { type: 'NULL' })
})

test('one value is an enum of one', () => {
  assert.deepEqual(normalised({ const: 'insert' }), { type: 'STRING', enum: ['insert'] })
})

test('values that are no texts are told in words', () => {
  assert.deepEqual(normalised({ type: 'integer', enum: [1, 2], description: 'Level.' }), {
    type: 'INTEGER',
    description: 'Level.\nOne of: 1, 2',
  })
  assert.deepEqual(normalised({ const: true }), { type: 'BOOLEAN', description: 'One of: true' })
})

test('nothing stands beside anyOf', () => {
  assert.deepEqual(
    normalised({
      description: 'size',
      anyOf: [{ type: 'number' }, { type: 'string', description: 'auto' }, { type: 'null' }],
    }),
    {
      anyOf: [
        { type: 'NUMBER', description: 'size', nullable: true },
        { type: 'STRING', description: 'auto', nullable: true },
      ],
    },
  )
  assert.deepEqual(normalised({ type: ['string', 'integer'], minLength: 2 }), {
    anyOf: [{ type: 'STRING', minLength: 2 }, { type: 'INTEGER' }],
  })
})

test('alternatives get what is said of all of them', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: { a: { type: 'string' }, b: { type: 'string' } },
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  }
  const properties = { a: { type: 'STRING' }, b: { type: 'STRING' } }
  assert.deepEqual(normalised(schema), {
    anyOf: [
      { type: 'OBJECT', properties, required: ['a'] },
      { type: 'OBJECT', properties, required: ['b'] },
    ],
  })
  assert.deepEqual(normaliseParameters(readerOf(schema)), { type: 'OBJECT', properties })
})

test('references are followed, with what stands beside them', () => {
  const $defs = {
    'a/b': { type: 'string', description: 'inner' },
    list: { type: 'array', items: { $ref: '#/$defs/a~1b' } },
  }
  assert.deepEqual(normalised({ $defs, $ref: '#/$defs/a~1b', description: 'outer' }), {
    type: 'STRING',
    description: 'outer',
  })
  assert.deepEqual(normalised({ $defs, properties: { x: { $ref: '#/$defs/list' } } }), {
    type: 'OBJECT',
    properties: { x: { type: 'ARRAY', items: { type: 'STRING', description: 'inner' } } },
  })
  assert.deepEqual(droppedFrom({ $ref: 'https://example.com/schema.json' }), ['$ref'])
  assert.deepEqual(droppedFrom({ $ref: '#/$defs/missing' }), ['$ref'])
})

test('recursion ends at its second round', () => {
  const $defs = { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' }, name: { type: 'string' } } } }
  assert.deepEqual(normalised({ $defs, $ref: '#/$defs/node' }), {
    type: 'OBJECT',
    properties: { next: { type: 'OBJECT' }, name: { type: 'STRING' } },
  })
  assert.deepEqual(normalised({ $ref: '#' }), { type: 'OBJECT' })
  assert.deepEqual(droppedFrom({ $defs, $ref: '#/$defs/node' }), ['recursive $ref'])
})

test('allOf becomes one schema', () => {
  assert.deepEqual(
    normalised({
      allOf: [
        { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { properties: { b: { type: 'integer' }, a: { description: 'first' } }, required: ['b'] },
      ],
    }),
    {
      type: 'OBJECT',
      properties: { a: { type: 'STRING', description: 'first' }, b: { type: 'INTEGER' } },
      required: ['a', 'b'],
    },
  )
})

test('a schema without keywords allows every type', () => {
  assert.deepEqual(normalised({ properties: { x: true } }), { type: 'OBJECT', properties: { x: ANYTHING } })
  assert.deepEqual(normalised({ type: 'array' }), { type: 'ARRAY', items: ANYTHING })
  assert.deepEqual(normalised({ properties: { never: false, a: { type: 'string' } } }), {
    type: 'OBJECT',
    properties: { a: { type: 'STRING' } },
  })
})

test('tuples become lists of any of their types', () => {
  assert.deepEqual(normalised({ prefixItems: [{ type: 'string' }, { type: 'number' }] }), {
    type: 'ARRAY',
    items: { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }] },
  })
})

test('keywords without a counterpart are reported', () => {
  assert.deepEqual(
    droppedFrom({
      type: 'object',
      additionalProperties: false,
      properties: { mail: { type: 'string', format: 'email' }, n: { type: 'integer', multipleOf: 2 } },
    }),
    ['additionalProperties', 'format', 'multipleOf'],
  )
})

test('a tool without parameters has none', () => {
  assert.equal(normaliseParameters(readerOf({ type: 'object', properties: {} })), null)
  assert.equal(normaliseParameters(readerOf({})), null)
})

test('the order of properties is written where it counts', () => {
  const reader = { ...readerOf({ properties: { b: { type: 'string' }, a: { type: 'string' } } }), isOrdered: true }
  assert.deepEqual(normaliseSchema(reader).propertyOrdering, ['b', 'a'])
})

test('a property may have any name', () => {
  const root: JsonObject = JSON.parse('{"properties":{"__proto__":{"type":"string"},"type":{"type":"string"}}}')
  assert.deepEqual(Object.keys(normalised(root).properties ?? {}), ['__proto__', 'type'])
})

test('references that multiply are cut off instead of filling the memory', () => {
  const $defs: JsonObject = { d0: { type: 'string', description: 'x'.repeat(1000) } }
  for (let level = 1; level <= 40; level++) {
    const $ref = `#/$defs/d${level - 1}`
    $defs[`d${level}`] = { type: 'object', properties: { a: { $ref }, b: { $ref } }, allOf: [{ $ref }, { $ref }] }
  }
  const reader = readerOf({ $defs, $ref: '#/$defs/d40' })
  const size = JSON.stringify(normaliseSchema(reader)).length
  assert.ok(size < 3_000_000, `${size} characters`)
  assert.ok(reader.dropped.has('parts that are too large or too deep'))
})

test('a long chain of references does not end the stack', () => {
  const $defs: JsonObject = {}
  for (let at = 0; at < 20_000; at++) $defs[`d${at}`] = { $ref: `#/$defs/d${at + 1}` }
  const nested: JsonObject = {}
  for (let at = 0; at < 20_000; at++) nested[`d${at}`] = { properties: { x: { $ref: `#/$defs/d${at + 1}` } } }
  assertAllowed(normalised({ $defs, $ref: '#/$defs/d0' }))
  assertAllowed(normalised({ $defs: nested, $ref: '#/$defs/d0' }))
})

test('any schema comes out in words that Gemini knows', () => {
  fc.assert(
    fc.property(wildSchemas, (root) => assertAllowed(normalised(root))),
    { numRuns: 500 },
  )
})

test('nothing that the client allows is forbidden', () => {
  const ajv = new Ajv({ strict: false, validateSchema: false })
  fc.assert(
    fc.property(plainSchemas, fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 20 }), (root, values) => {
      const before = ajv.compile(root)
      const after = ajv.compile(asJsonSchema(normalised(root)))
      for (const value of [...values, ...SAMPLES]) {
        if (before(value)) assert.ok(after(value), `${JSON.stringify(value)} became forbidden`)
      }
    }),
    { numRuns: 150 },
  )
})

const SAMPLES: Json[] = [
  'a',
  '',
  0,
  5,
  5.5,
  true,
  null,
  {},
  { a: 'b' },
  { a: 1, b: null },
  ['a'],
  [],
  { a: { b: 'a' } },
]

const ALLOWED = new Set([
  ...['type', 'format', 'title', 'description', 'nullable', 'enum', 'items', 'minItems', 'maxItems', 'properties'],
  ...['required', 'propertyOrdering', 'minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'anyOf'],
])
const TYPES = new Set(['STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'])

function assertAllowed(schema: Json | undefined): void {
  assert.ok(isObject(schema))
  for (const key of Object.keys(schema)) assert.ok(ALLOWED.has(key), key)
  const { type, anyOf, properties, required, items, enum: values } = schema
  if (anyOf !== undefined) {
    assert.ok(Array.isArray(anyOf) && anyOf.length > 1)
    assert.deepEqual(Object.keys(schema), ['anyOf'])
    for (const branch of anyOf) assertAllowed(branch)
    return
  }
  assert.ok(typeof type === 'string' && TYPES.has(type), JSON.stringify(type))
  if (type === 'ARRAY') assertAllowed(items)
  if (isObject(properties)) for (const inner of Object.values(properties)) assertAllowed(inner)
  const names = isObject(properties) ? Object.keys(properties) : []
  for (const name of Array.isArray(required) ? required : [])
    assert.ok(typeof name === 'string' && names.includes(name))
  for (const value of Array.isArray(values) ? values : []) assert.ok(typeof value === 'string' && value !== '')
  if (values !== undefined) assert.equal(type, 'STRING')
}

/** Converts Gemini's dialect to JSON Schema, for a validator. */
function asJsonSchema({ type, nullable, anyOf, properties, items, ...rest }: JsonObject): JsonObject {
  if (Array.isArray(anyOf)) return { anyOf: anyOf.filter(isObject).map(asJsonSchema) }
  const name = typeof type === 'string' ? type.toLowerCase() : ''
  const { enum: values, ...others } = rest
  return {
    ...others,
    ...(Array.isArray(values) && { enum: nullable === true ? [...values, null] : values }),
    type: nullable === true ? [name, 'null'] : name,
    ...(isObject(items) && { items: asJsonSchema(items) }),
    ...(isObject(properties) && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([key, inner]) => [key, isObject(inner) ? asJsonSchema(inner) : {}]),
      ),
    }),
  }
}

/** Schemas of all keywords, valid or not, with references into themselves. */
const wildSchemas = fc.letrec<{ schema: JsonObject; value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthIdentifier: 'schema' },
    fc.constantFrom<Json>(
      'string',
      'object',
      'array',
      'null',
      '#',
      '#/$defs/a',
      '#/properties/a',
      ['string', 'null'],
      3,
      true,
    ),
    tie('schema'),
    fc.dictionary(fc.constantFrom('a', 'b', '__proto__'), tie('value'), { maxKeys: 2, noNullPrototype: true }),
    fc.array(tie('value'), { maxLength: 2 }),
  ),
  schema: fc.dictionary(
    fc.constantFrom(
      ...['type', 'properties', 'items', 'anyOf', 'oneOf', 'allOf', '$ref', 'enum', 'const', 'required', 'description'],
      ...[
        'title',
        'nullable',
        'minimum',
        'exclusiveMinimum',
        'format',
        'prefixItems',
        'minLength',
        '$defs',
        'not',
        'default',
      ],
    ),
    tie('value'),
    { maxKeys: 4, noNullPrototype: true, depthIdentifier: 'schema' },
  ),
})).schema

/** Realistic schemas, for which the conversion drops no restriction. */
const plainSchemas = fc
  .letrec<{ schema: JsonObject }>((tie) => ({
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom<JsonObject>(
        { type: 'string' },
        { type: 'string', minLength: 1 },
        { type: ['string', 'null'] },
        { type: ['integer', 'boolean'] },
        { type: 'integer', exclusiveMinimum: 3 },
        { type: 'number', maximum: 5.5 },
        { enum: ['a', 'b', null] },
        { const: 5 },
        { $ref: '#/$defs/a' },
        { type: 'boolean' },
      ),
      tie('schema').map((items): JsonObject => ({ type: 'array', items })),
      fc.tuple(tie('schema'), tie('schema')).map(([a, b]): JsonObject => ({ anyOf: [a, b, { type: 'null' }] })),
      fc.tuple(tie('schema'), tie('schema')).map(([a, b]): JsonObject => ({
        type: 'object',
        properties: { a, b },
        required: ['a'],
        additionalProperties: false,
      })),
      tie('schema').map((a): JsonObject => ({
        allOf: [{ type: 'object', properties: { a } }, { required: ['a', 'b'] }],
      })),
    ),
  }))
  .schema.map((schema): JsonObject => ({
    allOf: [schema],
    $defs: { a: { type: 'object', properties: { a: { type: 'string' } } } },
  }))
