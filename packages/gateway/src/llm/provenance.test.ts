import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromClientOf, madeBy, withMaker } from './provenance.ts'

test('only its maker gets a value back', () => {
  const sealed = withMaker('anthropic', 'EqQB')
  assert.equal(madeBy('anthropic', sealed), 'EqQB')
  assert.equal(madeBy('openai', sealed), null)
  assert.equal(madeBy('anthropic', 'EqQB'), null)
})

test('what a client sends bare is of the vendor of its format', () => {
  assert.equal(fromClientOf('anthropic', 'EqQB'), 'anthropic:EqQB')
  assert.equal(fromClientOf('anthropic', 'openai:gAAA'), 'openai:gAAA')
  assert.equal(fromClientOf('anthropic', 'unknown:x'), 'anthropic:unknown:x')
})
