import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import { cutAt, privateText, somePlaces } from '../testing/splits.ts'
import { builtins } from './builtins.ts'
import { joinPassages } from '../passage.ts'
import { JsonMasker } from './json-masker.ts'
import { patternRule } from './guard.ts'
import { type Rule, PlainMasker, WholeText } from './text-masker.ts'

const rules: Rule[] = [...Object.values(builtins), patternRule('secret-[a-z]+', 0), patternRule('a"b', 1)]

describe('masking JSON', () => {
  const samples: [string, string][] = [
    ['{"ssn":"123-45-6789"}', '{"ssn":"<SSN>"}'],
    ['{"ssn":123456789}', '{"ssn":"<SSN>"}'],
    ['{"ssn": -123456789 }', '{"ssn": "-<SSN>" }'],
    ['[123456789,1.5,null,true]', '["<SSN>",1.5,null,true]'],
    ['0.123456789', '0.123456789'],
    ['{"text":"line\\n123-45-6789"}', '{"text":"line\\n<SSN>"}'],
    ['{"mail":"john\\u0040example.com\\t!"}', '{"mail":"<EMAIL_ADDRESS>\\t!"}'],
    ['{"123-45-6789":"key"}', '{"<SSN>":"key"}'],
    ['{"q":"say \\"secret-plan\\" now"}', '{"q":"say \\"<masked>\\" now"}'],
    ['{"q":"a\\"b"}', '{"q":"<masked>"}'],
    ['{"path":"C:\\\\dir\\\\secret-x"}', '{"path":"C:\\\\dir\\\\<masked>"}'],
    ['{"a":"123-45-","b":"6789"}', '{"a":"123-45-","b":"6789"}'],
    ['{"u":"\\u00e9\\ud83d\\ude00 123-45-6789"}', '{"u":"\\u00e9\\ud83d\\ude00 <SSN>"}'],
  ]
  for (const [given, expected] of samples) {
    it(`${given} becomes ${expected}`, () => {
      assert.equal(mask([given]), expected)
      assert.equal(mask(given.split('')), expected)
    })
  }

  it('passes on to the letter what has no match', () => {
    const odd = '{ "a" :\t1e5 , "b":[ ],"c":"\\/\\u0041\\q\\u12" , "d":1.0 }\n'
    assert.equal(mask([odd]), odd)
    assert.equal(mask(odd.split('')), odd)
  })

  it('masks JSON that breaks off, and what is no JSON', () => {
    assert.equal(mask(['{"ssn":"123-45-6789']), '{"ssn":"<SSN>')
    assert.equal(mask(['{"ssn":123456789']), '{"ssn":"<SSN>"')
    assert.equal(mask(['{"a":"b\\']), '{"a":"b\\')
    assert.equal(mask(['john@example.com']), '"<EMAIL_ADDRESS>"')
  })

  it('gives JSON again, with each string masked as by itself', () => {
    fc.assert(
      fc.property(fc.json({ stringUnit: 'grapheme' }), privateText, somePlaces, (json, text, places) => {
        const given = JSON.stringify({ json: JSON.parse(json) as unknown, text, nested: [{ [text]: text }] })
        const masked = mask(cutAt(given, places))
        assert.equal(masked, mask([given]))
        const read = JSON.parse(masked) as { text: string; nested: [Record<string, string>] }
        assert.equal(read.text, maskText(JSON.parse(JSON.stringify(text)) as string))
        assert.deepEqual(Object.entries(read.nested[0]), [[read.text, read.text]])
      }),
      { numRuns: 500 },
    )
  })

  it('does not care where any text is cut', () => {
    const pieces = fc.array(fc.constantFrom('"', '\\', '\\u00', '4', '123-45-6789', ' ', ',', '{', 'u', 'n', 'é', '"}'))
    fc.assert(
      fc.property(pieces, somePlaces, (parts, places) => {
        const text = parts.join('')
        assert.equal(mask(cutAt(text, places)), mask([text]))
      }),
      { numRuns: 1_000 },
    )
  })

  it('lets long strings go while they come', () => {
    const masker = new JsonMasker(rules)
    assert.equal(joinPassages(masker.push('{"text":"Hello wor') ?? []), '{"text":"Hello ')
    assert.equal(joinPassages(masker.push('ld\\n') ?? []), 'world\\n')
  })
})

function mask(pieces: readonly string[]): string {
  const masker = new JsonMasker(rules)
  const masked = pieces.flatMap((piece) => masker.push(piece) ?? assert.fail('given up'))
  return joinPassages([...masked, ...masker.end()])
}

function maskText(text: string): string {
  const masker = new PlainMasker(rules, new WholeText(rules))
  return joinPassages([...(masker.push(text) ?? []), ...masker.end()])
}
