import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { parseSafely } from './safe-json.ts'

function escaped(text: string): string {
  return `"${Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
}

test('a name with escapes is decoded correctly after other documents', () => {
  const body = `{"model":"m",${escaped('messages')}:[1]}`
  for (const poison of ['{"model":"m","\\\\u006d\\\\u":1}', '{"\\\\":0}', '{"model":"m","\\\\":0}']) {
    for (let times = 0; times < 3; times += 1) parseSafely(poison)
    assert.deepEqual(Object.keys(parseSafely(body) as object), ['model', 'messages'])
    assert.deepEqual(parseSafely('{"\\n":1,"x":{"\\"":2}}'), { '\n': 1, x: { '"': 2 } })
  }
})

test('every document is parsed as JSON.parse should', () => {
  const unit = fc.constantFrom('\\', '"', 'a', 'u', '0', '\n', ':', 'é', '\ud83d\ude00')
  const name = fc.array(unit, { maxLength: 4 }).map((units) => units.join(''))
  const scalar = fc.oneof(name, fc.constantFrom(null, true, false, 0, -1.5, 1e300, 123_456_789))
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      scalar,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(fc.oneof(name, fc.constant('__proto__')), tie('value'), { maxKeys: 4, noNullPrototype: true }),
    ),
  }))
  const space = fc.constantFrom('', ' ', '\n\t', '\r')
  fc.assert(
    fc.property(value, space, fc.boolean(), (value, space, escapes) => {
      assert.deepEqual(parseSafely(write(value, space, escapes)), value)
    }),
    { seed: 1, numRuns: 3_000 },
  )
})

function write(value: unknown, space: string, escapes: boolean): string {
  const text = (item: string): string => (escapes ? escaped(item) : JSON.stringify(item))
  if (typeof value === 'string') return space + text(value) + space
  if (typeof value !== 'object' || value === null) return space + JSON.stringify(value) + space
  if (Array.isArray(value))
    return `${space}[${space}${value.map((item) => write(item, space, escapes)).join(',')}]${space}`
  const members = Object.entries(value).map(
    ([name, member]) => `${text(name)}${space}:${write(member, space, escapes)}`,
  )
  return `${space}{${space}${members.join(`,${space}`)}}${space}`
}

test('invalid JSON is rejected, as by the runtime', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'{}[]":,\\u0061 n1-.e'.split('')), maxLength: 16 }), (text) => {
      let expected: boolean
      try {
        JSON.parse(text)
        expected = true
      } catch {
        expected = false
      }
      if (expected) parseSafely(text)
      else assert.throws(() => parseSafely(text), SyntaxError)
    }),
    { seed: 2, numRuns: 5_000 },
  )
})

test('the last of duplicate names wins', () => {
  assert.deepEqual(parseSafely('{"\\u0061":1,"a":2,"b":3}'), { a: 2, b: 3 })
})

test('deep nesting is rejected without a stack overflow', () => {
  const deep = (levels: number) => `${'{"\\u0061":'.repeat(levels)}1${'}'.repeat(levels)}`
  assert.ok(parseSafely(deep(900)) !== null)
  assert.throws(() => parseSafely(deep(100_000)), SyntaxError)
})

test('long texts take linear time', () => {
  const lines = '\\n'.repeat(500_000)
  assert.deepEqual(Object.keys(parseSafely(`{"a":"${lines}","\\u0062":"${lines}"}`) as object), ['a', 'b'])
})
