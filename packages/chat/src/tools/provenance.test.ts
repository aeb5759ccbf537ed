import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { fromClientOf, madeBy, splitItemId, withItemId, withMaker } from './provenance.ts'

test('only its maker gets a value back', () => {
  const sealed = withMaker('anthropic', 'EqQB')
  assert.equal(madeBy('anthropic', sealed), 'EqQB')
  assert.equal(madeBy('openai', sealed), null)
  assert.equal(madeBy('anthropic', 'EqQB'), null)
})

test('a value without a prefix belongs to the vendor of the client format', () => {
  assert.equal(fromClientOf('anthropic', 'EqQB'), 'anthropic:EqQB')
  assert.equal(fromClientOf('anthropic', 'openai:gAAA'), 'openai:gAAA')
  assert.equal(fromClientOf('anthropic', 'unknown:x'), 'anthropic:unknown:x')
})

test('the id of an item follows its encrypted content', () => {
  assert.equal(withItemId('openai:gAAA', 'rs_1'), 'openai:gAAA#rs_1')
  assert.deepEqual(splitItemId('openai:gAAA#rs_1'), { sealed: 'openai:gAAA', id: 'rs_1' })
  assert.deepEqual(splitItemId('openai:gAAA'), { sealed: 'openai:gAAA' })
  assert.equal(withItemId('openai:gAAA', undefined), 'openai:gAAA')
})

test('any value comes back without its id, and an id of the usual kind with it', () => {
  const sealed = fc.base64String().map((value) => withMaker('openai', value))
  fc.assert(
    fc.property(sealed, fc.string(), (value, id) => {
      const split = splitItemId(withItemId(value, id))
      assert.equal(split.sealed, value)
      assert.equal(split.id, /^[\w-]+$/.test(id) ? id : undefined)
    }),
  )
})
