import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { ModelNames } from './model-names.ts'

const namesOf = (...names: string[]) => new ModelNames(names.map((name) => ({ name })))

test('an exact name wins over patterns, and a longer pattern over a shorter one', () => {
  const names = namesOf('*', 'gpt-*', 'gpt-5', '*-mini', 'gpt-5-*')
  const found = (name: string) => names.find(name)?.model.name
  assert.equal(found('gpt-5'), 'gpt-5')
  assert.equal(found('gpt-5-nano'), 'gpt-5-*')
  assert.equal(found('gpt-4'), 'gpt-*')
  assert.equal(found('o4-mini'), '*-mini')
  assert.equal(found('claude'), '*')
})

test('a namespace before the star is not part of the own name of a model, other prefixes are', () => {
  const names = namesOf('anthropic/*', 'claude-*', '*-latest')
  assert.deepEqual(names.find('anthropic/claude-5'), {
    model: { name: 'anthropic/*' },
    name: 'anthropic/claude-5',
    ownName: 'claude-5',
    star: 'claude-5',
  })
  assert.deepEqual(names.find('claude-5'), {
    model: { name: 'claude-*' },
    name: 'claude-5',
    ownName: 'claude-5',
    star: '5',
  })
  assert.deepEqual(names.find('gpt-latest'), {
    model: { name: '*-latest' },
    name: 'gpt-latest',
    ownName: 'gpt-latest',
    star: 'gpt',
  })
})

test('a pattern without text for its star does not match', () => {
  assert.equal(namesOf('anthropic/*').find('anthropic/'), null)
  assert.equal(namesOf('*').find(''), null)
})

test('a pattern matches what its regular expression matches', () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 3 })
  fc.assert(
    fc.property(part, fc.boolean(), part, (text, isPrefix, name) => {
      const pattern = isPrefix ? `${text}*` : `*${text}`
      const expected = isPrefix ? name.startsWith(text) : name.endsWith(text)
      assert.equal(namesOf(pattern).find(name) !== null, expected && name.length > text.length)
    }),
  )
})
