import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { type NamedOperation, nameTools } from './name-tools.ts'

const named = (operationId: string | null, method = 'get', path = '/a'): NamedOperation => ({
  operationId,
  method,
  path,
})

describe('names of tools', () => {
  it('are operationIds, or made of method and path', () => {
    assert.deepEqual(
      nameTools([
        named('getPet'),
        named('repos/get-content'),
        named('find pet by id'),
        named(null, 'put', '/pets/{petId}/photos'),
        named(null, 'get', '/'),
        named('日本', 'get', '/b'),
      ]).map((name) => name.replace(/_[0-9a-f]{8}$/, '_#')),
      ['getPet', 'repos_get-content', 'find_pet_by_id', 'put_pets_petId_photos', 'get', '_#'],
    )
  })

  it('differ where operations do', () => {
    const [first, second, third] = nameTools([
      named('pets/get', 'get', '/1'),
      named('pets.get', 'get', '/2'),
      named('pets_get', 'get', '/3'),
    ])
    assert.equal(third, 'pets_get')
    assert.match(first ?? '', /^pets_get_[0-9a-f]{8}$/)
    assert.match(second ?? '', /^pets_get_[0-9a-f]{8}$/)
    assert.notEqual(first, second)
    const twice = nameTools([named('x', 'get', '/a'), named('x', 'put', '/b')])
    assert.deepEqual(twice, ['get_a', 'put_b'])
  })

  it('are short, and end in a hash where they were cut', () => {
    const [name] = nameTools([named('a'.repeat(65))])
    assert.match(name ?? '', /^a{55}_[0-9a-f]{8}$/)
  })

  it('are valid, differ, and do not depend on the order, whatever the operations', () => {
    const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('a', '/', '_', '{', '}'), maxLength: 90 }))
    const operation = fc.record({
      operationId: fc.option(text.filter((id) => id !== '')),
      method: fc.constantFrom('get', 'put'),
      path: text,
    })
    // A path has at most one operation per method.
    const operations = fc.uniqueArray(operation, { maxLength: 12, selector: ({ method, path }) => `${method} ${path}` })
    fc.assert(
      fc.property(operations, (all) => {
        const names = nameTools(all)
        assert.equal(new Set(names).size, all.length)
        for (const name of names) assert.match(name, /^[A-Za-z0-9_-]{1,64}$/)
        assert.deepEqual(nameTools(all.toReversed()), names.toReversed())
      }),
      { numRuns: 1_000 },
    )
  })
})
