import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { test } from 'node:test'
import type { Json, JsonObject } from '@portico/chat'
import { fieldEdits, createAliases, editRequest, asksForUsage, completionsEdits } from './request-edits.ts'
import { applyEdits, joinEdits } from '@portico/http/json'

const set = (values: Record<string, Json>) => Object.entries(values).map(([field, value]) => ({ field, value }))
const compute = (values: Record<string, string>) =>
  Object.entries(values).map(([field, expression]) => ({ field, expression }))
/** Expressions here name a member of a table; what is not there fails. */
const evaluate = (expression: string): Json | undefined => (expression === 'fails' ? undefined : `<${expression}>`)

test('transformations win over overrides, these over the client, the client over defaults', () => {
  const body = { a: 'client', b: 'client', c: 'client', n: null }
  const edits = fieldEdits(
    body,
    {
      overrides: set({ a: 'override', b: 'override' }),
      transformations: compute({ a: 'cel' }),
      defaults: set({ a: 'default', c: 'default', d: 'default', n: 'default' }),
    },
    evaluate,
  )
  assert.deepEqual(applyEdits(body, edits), { a: '<cel>', b: 'override', c: 'client', n: 'default', d: 'default' })
})

test('a transformation that fails removes the field, and a default may fill it again', () => {
  const body = { a: 1, b: 2 }
  const rules = {
    overrides: set({ a: 3 }),
    transformations: compute({ a: 'fails', b: 'fails' }),
    defaults: set({ b: 0 }),
  }
  assert.deepEqual(applyEdits(body, fieldEdits(body, rules, evaluate)), { b: 0 })
})

test('without rules there is nothing to do', () => {
  assert.equal(fieldEdits({ a: 1 }, {}, evaluate).size, 0)
  const body = { a: 1 }
  assert.equal(applyEdits(body, joinEdits()), body)
})

test('fields may have any name', () => {
  const edits = fieldEdits(
    {},
    { overrides: set({ ['__proto__']: 1, constructor: 2 }), defaults: set({ toString: 3 }) },
    evaluate,
  )
  const edited = applyEdits({}, edits)
  assert.deepEqual(Object.entries(edited), [
    ['__proto__', 1],
    ['constructor', 2],
    ['toString', 3],
  ])
})

test('the rules hold for any body', () => {
  const name = fc.constantFrom('a', 'b', 'c', '__proto__')
  const values = fc.dictionary(
    name,
    fc.jsonValue().map((value) => value as Json),
    { noNullPrototype: true },
  )
  const expressions = fc.dictionary(name, fc.constantFrom('x', 'fails'), { noNullPrototype: true })
  fc.assert(
    fc.property(values, values, values, expressions, (body, defaults, overrides, transformations) => {
      const rules = { defaults: set(defaults), overrides: set(overrides), transformations: compute(transformations) }
      const edited = applyEdits(body, fieldEdits(body, rules, evaluate))
      const model = new Map(Object.entries(body))
      for (const [field, value] of Object.entries(overrides)) model.set(field, value)
      for (const [field, source] of Object.entries(transformations)) {
        if (source === 'fails') model.delete(field)
        else model.set(field, evaluate(source)!)
      }
      for (const [field, value] of Object.entries(defaults))
        if ((model.get(field) ?? null) === null) model.set(field, value)
      assert.deepEqual(new Map(Object.entries(edited)), model)
    }),
    { seed: 8 },
  )
})

test('aliases: the exact name, then the longest pattern, once', () => {
  const aliasOf = createAliases({
    fast: 'gpt-4o-mini',
    'gpt-4o-mini': 'other',
    'claude-*': 'claude-sonnet-4-5',
    'claude-*-mini': 'haiku',
    '*': 'fallback',
    'a*b*c': 'abc',
    'a*b*d': 'second of its length',
  })
  assert.equal(aliasOf('fast'), 'gpt-4o-mini')
  assert.equal(aliasOf('claude-3-opus'), 'claude-sonnet-4-5')
  assert.equal(aliasOf('claude-x-mini'), 'haiku')
  assert.equal(aliasOf('claude-mini'), 'claude-sonnet-4-5')
  assert.equal(aliasOf('axxbyyc'), 'abc')
  assert.equal(aliasOf('abc'), 'abc')
  assert.equal(aliasOf('acb'), 'fallback')
  assert.equal(aliasOf('anything'), 'fallback')
  assert.equal(createAliases()('x'), 'x')
  assert.equal(createAliases({ 'a.c': 'y' })('abc'), 'abc')
  assert.equal(createAliases({ a: 'y' })('constructor'), 'constructor')
})

test('patterns match as a regular expression of the same meaning would', () => {
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 }).map((text) => `${text}*`)
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 })
  fc.assert(
    fc.property(pattern, text, (pattern, text) => {
      const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(text)
      assert.equal(createAliases({ [pattern]: 'hit' })(text) === 'hit', expected)
    }),
    { seed: 9, numRuns: 3_000 },
  )
})

test("the provider's model, then edits, then the alias", () => {
  const aliasOf = createAliases({ fast: 'gpt-4o-mini', back: 'mine' })
  const edit = (
    body: JsonObject,
    more: { model?: string; path?: string; overrides?: Record<string, Json>; defaults?: Record<string, Json> } = {},
  ) => {
    const { model = null, path = null, overrides = {}, defaults = {} } = more
    const fields = { overrides: set(overrides), defaults: set(defaults) }
    const { edits, model: asked, body: edited } = editRequest(body, path, { model, fields, aliasOf }, evaluate)
    assert.deepEqual(edited, applyEdits(body, edits))
    return [asked, Object.fromEntries(edits)]
  }
  assert.deepEqual(edit({ model: 'x' }), ['x', {}])
  assert.deepEqual(edit({ model: 'fast' }), ['gpt-4o-mini', { model: 'gpt-4o-mini' }])
  assert.deepEqual(edit({ model: 'x' }, { model: 'fast' }), ['gpt-4o-mini', { model: 'gpt-4o-mini' }])
  assert.deepEqual(edit({ model: 'x' }, { model: 'y', overrides: { model: 'z' } }), ['z', { model: 'z' }])
  assert.deepEqual(edit({}, { model: 'y', defaults: { model: 'z' } }), ['y', { model: 'y' }])
  assert.deepEqual(edit({}, { defaults: { model: 'z' } }), ['z', { model: 'z' }])
  assert.deepEqual(edit({}, { path: 'p', defaults: { model: 'z' } }), ['p', { model: 'p' }])
  assert.deepEqual(edit({ model: 'x' }, { path: 'p' }), ['x', {}])
  assert.deepEqual(edit({ a: 1 }), ['', {}])
  assert.deepEqual(edit({ model: 7 }), ['', {}])
  assert.deepEqual(edit({ model: 'mine' }, { model: 'mine' }), ['mine', {}])
  assert.deepEqual(edit({ model: 'mine', t: 0 }, { model: 'back', overrides: { t: 1 } }), ['mine', { t: 1 }])
})

const none: ReadonlySet<string> = new Set()

function edits(body: JsonObject, ...quirks: string[]): Record<string, unknown> {
  return Object.fromEntries(completionsEdits(body, new Set(quirks)))
}

test('usage of a stream is asked for, whatever the client wants', () => {
  assert.deepEqual(edits({ stream: true }), { stream_options: { include_usage: true } })
  assert.deepEqual(edits({ stream: true, stream_options: { include_usage: false, x: 1 } }), {
    stream_options: { include_usage: true, x: 1 },
  })
  assert.deepEqual(edits({ stream: true, stream_options: null }), { stream_options: { include_usage: true } })
  assert.deepEqual(edits({ stream: true, stream_options: { include_usage: true } }), {})
  assert.deepEqual(edits({ stream: false }), {})
  assert.deepEqual(edits({ stream: true }, 'noStreamOptions'), {})
  assert.ok(asksForUsage({ stream_options: { include_usage: true } }))
  assert.ok(!asksForUsage({ stream_options: { include_usage: false } }))
  assert.ok(!asksForUsage({}))
})

test('the limit has the name that the model knows', () => {
  assert.deepEqual(edits({ max_tokens: 5 }, 'completionTokens'), { max_tokens: undefined, max_completion_tokens: 5 })
  assert.deepEqual(edits({ max_tokens: 5, max_completion_tokens: 7 }, 'completionTokens'), {
    max_tokens: undefined,
    max_completion_tokens: 7,
  })
  assert.deepEqual(edits({ max_completion_tokens: 7 }, 'completionTokens'), {})
  assert.equal(completionsEdits({ max_tokens: 5 }, none).size, 0)
})
