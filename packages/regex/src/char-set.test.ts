import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as fc from 'fast-check'
import { complement, DOT, EMPTY, PERL_CLASSES, range, single, toV8Class } from './char-set.ts'

it('writes a set as the class of exactly its characters', () => {
  const member = fc.integer({ min: 0, max: 127 }).map((code) => single(String.fromCharCode(code)))
  const sets = fc.tuple(fc.array(member, { maxLength: 40 }), fc.boolean()).map(([members, negated]) => {
    const set = members.reduce((union, one) => union | one, EMPTY)
    return negated ? complement(set) : set
  })
  fc.assert(
    fc.property(fc.oneof(sets, fc.constantFrom(DOT, range('a', 'z'), ...Object.values(PERL_CLASSES))), (set) => {
      const written = new RegExp(`^${toV8Class(set)}$`, 'u')
      for (let code = 0; code < 128; code++) {
        const text = String.fromCharCode(code)
        assert.equal(written.test(text), (set & single(text)) !== EMPTY, `${toV8Class(set)} on ${code}`)
      }
      assert.equal(written.test('é'), set >> 128n === 1n)
    }),
    { seed: 80, numRuns: 300 },
  )
})
