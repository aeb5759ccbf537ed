import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { draftOf, emptyDraft, readDraft } from './draft.ts'
import { argumentsField } from './schema-field.ts'

const SCHEMA = {
  type: 'object',
  required: ['query', 'size'],
  properties: {
    query: { type: 'string', description: 'What to look for.' },
    size: { type: 'integer', minimum: 1, maximum: 10 },
    exact: { type: 'boolean' },
    order: { enum: ['up', 'down', 3] },
    tags: { type: 'array', items: { type: 'string' } },
    place: { $ref: '#/$defs/place' },
    maybe: { anyOf: [{ type: 'number' }, { type: 'null' }] },
    either: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  },
  $defs: {
    place: { type: 'object', required: ['city'], properties: { city: { type: 'string' }, zip: { type: 'string' } } },
  },
}

describe('a form', () => {
  test('has a field for each property, and JSON for what no field can show', () => {
    const field = argumentsField(SCHEMA)
    assert.ok(field.kind === 'object')
    assert.deepEqual(
      field.fields.map(({ name, kind, isNeeded }) => [name, kind, isNeeded]),
      [
        ['query', 'text', true],
        ['size', 'integer', true],
        ['exact', 'boolean', false],
        ['order', 'choice', false],
        ['tags', 'list', false],
        ['place', 'object', false],
        ['maybe', 'number', false],
        ['either', 'json', false],
      ],
    )
    assert.equal(field.fields[0]?.description, 'What to look for.')
  })

  test('gives what was written, with its types, and leaves out what was not', () => {
    const field = argumentsField(SCHEMA)
    const draft = {
      query: 'a',
      size: '3',
      exact: 'true',
      order: '3',
      tags: ['x', 'y'],
      place: { city: 'Rome', zip: '' },
      maybe: '',
      either: '{"a": [1]}',
    }
    const value = {
      query: 'a',
      size: 3,
      exact: true,
      order: 3,
      tags: ['x', 'y'],
      place: { city: 'Rome' },
      either: { a: [1] },
    }
    assert.deepEqual(readDraft(field, draft), { value, problems: [] })
    assert.deepEqual(readDraft(field, draftOf(field, value)), { value, problems: [] })
  })

  test('says what is wrong where', () => {
    const field = argumentsField(SCHEMA)
    const told = (draft: Parameters<typeof readDraft>[1]): string[] =>
      readDraft(field, draft).problems.map(({ path, text }) => `${path}: ${text}`)
    assert.deepEqual(told(emptyDraft(field)), ['query: Required', 'size: Required'])
    assert.deepEqual(told({ query: 'a', size: '11', either: '{', tags: [''], place: { zip: '1' } }), [
      'size: Expected 10 or less',
      'tags[0]: Required',
      'place.city: Required',
      'either: Invalid JSON: ' + jsonError('{'),
    ])
    assert.deepEqual(told({ query: 'a', size: '1.5', place: { city: 'x' } }), ['size: Expected a whole number'])
    assert.deepEqual(told({ query: 'a', size: 'many', place: { city: 'x' } }), ['size: Expected a number'])
  })

  test('stands whatever a server says a schema is', () => {
    const loop: Record<string, unknown> = { type: 'object', properties: {} }
    ;(loop['properties'] as Record<string, unknown>)['again'] = { $ref: '#' }
    for (const schema of [
      null,
      7,
      [],
      'x',
      { type: 'object', properties: 7 },
      { type: 'object', properties: { a: null, __proto__x: { type: 'string' } } },
      { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } },
      { $ref: 'http://evil.example/schema' },
      { $ref: '#/constructor/prototype' },
      { type: 'object', properties: { a: { type: 'array', items: { type: 'array', items: {} } } } },
      { type: ['object', 'null'], properties: { a: true } },
      loop,
    ]) {
      const field = argumentsField(schema)
      assert.doesNotThrow(() => readDraft(field, emptyDraft(field)), JSON.stringify(schema))
    }
  })
})

function jsonError(text: string): string {
  try {
    JSON.parse(text)
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
  return ''
}
