import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fields, withMarks } from './fields.ts'
import type { JsonObject } from '../middle.ts'
import { UnsupportedField } from '../middle.ts'

describe('fields', () => {
  it('are taken, and the others are the rest', () => {
    const fields = new Fields({ a: 'x', b: 1, c: true, d: null, e: [1] })
    assert.equal(fields.text('a'), 'x')
    assert.equal(fields.number('b'), 1)
    assert.equal(fields.boolean('c'), true)
    assert.equal(fields.text('d'), undefined)
    assert.equal(fields.text('absent'), undefined)
    assert.deepEqual(fields.rest(), { e: [1] })
    fields.take('e')
    assert.equal(fields.rest(), undefined)
    assert.equal(fields.fault, null)
  })

  it('fields of a wrong type fail the whole request; the first fault is reported, with its path', () => {
    const fields = new Fields({ list: [{ inner: { value: 5 } }, 'no object'], last: 'x' })
    const [first] = fields.list('list')
    first?.fields('inner')?.text('value')
    fields.number('last')
    assert.equal(fields.fault?.field, 'list[1]')
    const other = new Fields({ list: [{ inner: { value: 5 } }] })
    other.list('list')[0]?.fields('inner')?.text('value')
    assert.deepEqual(other.fault, new UnsupportedField('list[0].inner.value', 'must be a text'))
  })

  it('content may be a text or a list', () => {
    const contents = (content: JsonObject) => new Fields(content).content('content').map(({ raw }) => raw)
    assert.deepEqual(contents({ content: 'hi' }), [{ type: 'text', text: 'hi' }])
    assert.deepEqual(contents({ content: [{ type: 'x' }] }), [{ type: 'x' }])
    assert.deepEqual(contents({ content: null }), [])
    assert.deepEqual(contents({}), [])
  })

  it('named like members of every object are ordinary', () => {
    const body = JSON.parse('{"__proto__":{"polluted":1},"constructor":"x","a":1}') as JsonObject
    const fields = new Fields(body)
    fields.take('a')
    const rest = fields.rest()!
    assert.deepEqual(Object.keys(rest), ['__proto__', 'constructor'])
    assert.equal(Object.getPrototypeOf(rest), Object.prototype)
    assert.equal(({} as { polluted?: number }).polluted, undefined)
  })

  it('mark the part that was read of them', () => {
    const fields = new Fields({ text: 'a', cache_control: { type: 'ephemeral' }, other: 1 })
    assert.deepEqual(withMarks({ text: fields.text('text') }, fields), {
      text: 'a',
      cache: { type: 'ephemeral' },
      rest: { other: 1 },
    })
  })
})
