import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { HeaderBlock } from '@portico/http'
import { chainOf, TextPipes } from './chain.ts'
import type { Guard } from './guard.ts'
import { compare, type Passage, joinPassages } from './passage.ts'
import { createRegexGuard } from './regex/guard.ts'
import { cutAt, longPrivateText, privateText, somePlaces } from './testing/splits.ts'

const response = { message: 'no', statusCode: 403 }
const builtins = createRegexGuard({ matches: [], builtins: ['Ssn', 'Email'], action: 'Mask' }, response)
const masks = createRegexGuard({ matches: ['<[A-Z_]+>', 'word'], builtins: [], action: 'Mask' }, response)
/** A guard that returns only the masked text, without positions. */
const asked: Guard = {
  name: 'webhook',
  check(texts) {
    return { kind: 'mask', texts: texts.map((text) => text.replaceAll(/secret\S*|SSN/g, '*')), found: [] }
  },
}

describe('the origin of a passage', () => {
  it('is found by comparison when a guard returns only the masked text', () => {
    const before = 'call ann at 555 or bob at 777 today'
    assert.deepEqual(compare(before, 'call <NAME> at 555 or bob at <PHONE> today'), [
      { text: 'call ', of: 5, isMask: false },
      { text: '<NAME>', of: 3, isMask: true },
      { text: ' at 555 or bob at ', of: 18, isMask: false },
      { text: '<PHONE>', of: 3, isMask: true },
      { text: ' today', of: 6, isMask: false },
    ])
    assert.deepEqual(compare('all', 'all is new'), [
      { text: 'al', of: 2, isMask: false },
      { text: 'l is new', of: 1, isMask: true },
    ])
    assert.deepEqual(compare('gone', ''), [{ text: '', of: 4, isMask: true }])
    assert.deepEqual(compare('gone', 'x y'), [{ text: 'x y', of: 4, isMask: true }])
    assert.deepEqual(compare(' at home', 'at home'), [
      { text: '', of: 1, isMask: true },
      { text: 'at home', of: 7, isMask: false },
    ])
  })

  it('adds up to both texts, whatever they are', () => {
    const words = fc.array(fc.constantFrom('a', 'b', ' ', 'secret', '\n', '  ')).map((all) => all.join(''))
    fc.assert(fc.property(fc.oneof(words, fc.string()), fc.oneof(words, fc.string()), isWhole), { numRuns: 2_000 })

    function isWhole(before: string, after: string): void {
      const passages = compare(before, after)
      assert.equal(joinPassages(passages), after)
      assert.equal(lengthOf(passages), before.length)
    }
  })

  for (const [name, guards] of Object.entries({
    regex: [builtins],
    asked: [asked],
    'regex, asked': [builtins, asked],
    'asked, regex, regex': [asked, builtins, masks],
  })) {
    for (const form of ['text', 'json'] as const) {
      it(`adds up to what went in, of ${form} through ${name}`, () => {
        fc.assert(
          fc.property(fc.oneof(privateText, longPrivateText), somePlaces, (text, places) => {
            const whole = form === 'text' ? text : JSON.stringify({ [text]: [text, 123456789] })
            const passages = passed(guards, form, cutAt(whole, places))
            assert.equal(lengthOf(passages), whole.length)
            let at = 0
            for (const passage of passages) {
              if (!passage.isMask) assert.equal(passage.text, whole.slice(at, at + passage.of))
              at += passage.of
            }
          }),
          { numRuns: 300 },
        )
      })
    }
  }
})

function lengthOf(passages: readonly Passage[]): number {
  return passages.reduce((sum, { of }) => sum + of, 0)
}

function passed(guards: readonly Guard[], form: 'text' | 'json', pieces: readonly string[]): Passage[] {
  const context = { requestHeaders: new HeaderBlock(), responseHeaders: null }
  const chain = chainOf(guards, 'response')
  const pipe = new TextPipes(chain, context).create({ role: 'assistant', form })
  return [...pieces.map((piece) => pipe.push(piece)), pipe.end()].flatMap((released) =>
    released instanceof Promise || 'kind' in released ? assert.fail('asked') : released,
  )
}
