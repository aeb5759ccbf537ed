import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import { cutAt, longPrivateText, privateText, somePlaces } from '../testing/splits.ts'
import { type Passage, joinPassages } from '../passage.ts'
import { builtins } from './builtins.ts'
import { patternRule } from './guard.ts'
import { type Rule, PlainMasker, MAX_HELD, WholeText } from './text-masker.ts'

const RUNS = 300
const everyBuiltin = Object.values(builtins)

const ruleSets: Record<string, Rule[]> = {
  'every builtin': everyBuiltin,
  'patterns of known reach': patterns('secret-[a-z]+', 'sk-[0-9]{4,10}', '(?i)\\bproject-x\\b', '😀+', '[^a]{3}a'),
  'patterns of unknown reach': patterns('(?s)s.c', '\\pL+-\\pL+', '(?m)^a', '(?i)(?P<x>PROJECT).x', 'a$', '^.'),
  'patterns that match nothing, too': patterns('x*', '\\b', 'a*?', '[0-9]*'),
  'anchored patterns': patterns('^[0-9a]+', '[a-z]+$', '^a|b$'),
  'builtins and patterns': [...everyBuiltin, ...patterns('[0-9]{4}', '@[a-z]+', 'j.*e', '\\s+')],
}

describe('masking a text that comes in pieces', () => {
  for (const [name, rules] of Object.entries(ruleSets)) {
    it(`gives what masking the whole gives: ${name}`, () => {
      fc.assert(
        fc.property(fc.oneof(privateText, longPrivateText), somePlaces, (text, places) => {
          assert.equal(maskPiecewise(rules, cutAt(text, places)), maskWhole(rules, text))
        }),
        { numRuns: RUNS },
      )
    })

    it(`gives the same character by character: ${name}`, () => {
      fc.assert(
        fc.property(fc.oneof(privateText, longPrivateText), (text) => {
          assert.equal(maskPiecewise(rules, text.split('')), maskWhole(rules, text))
        }),
        { numRuns: RUNS / 10 },
      )
    })

    it(`never lets half of a character go: ${name}`, () => {
      fc.assert(
        fc.property(privateText, somePlaces, (text, places) => {
          const masker = new PlainMasker(rules)
          const released = cutAt(text.toWellFormed(), places).map((piece) => masker.push(piece) ?? [])
          for (const piece of [...released, masker.end()])
            assert.ok(joinPassages(piece).isWellFormed(), JSON.stringify(piece))
        }),
      )
    })
  }

  it('finds matches of up to 256 characters, wherever they are cut', () => {
    const rules = patterns('(?s)BEGIN.*?END')
    for (const length of [8, 100, 255, 256]) {
      const match = `BEGIN${'x'.repeat(length - 8)}END`
      const text = `${'a'.repeat(300)}${match}${'b'.repeat(300)}`
      for (let at = 0; at <= text.length; at += 7) {
        const masked = maskPiecewise(rules, [text.slice(0, at), text.slice(at)])
        assert.equal(masked, `${'a'.repeat(300)}<masked>${'b'.repeat(300)}`)
      }
      assert.equal(maskPiecewise(rules, text.split('')), `${'a'.repeat(300)}<masked>${'b'.repeat(300)}`)
    }
  })

  it('waits for the end of a longer match once it has begun', () => {
    const key = `sk-${'a1'.repeat(4_000)}`
    const rules = patterns('(?s)sk-\\w+')
    assert.equal(maskPiecewise(rules, `key ${key} end`.split('')), 'key <masked> end')
  })

  it('gives up on a match that never ends', () => {
    const masker = new PlainMasker(patterns('(?s)a.*'))
    let length = 0
    let released: readonly Passage[] | null = []
    for (; released !== null; length += 100) {
      assert.equal(joinPassages(released), '')
      released = masker.push('a'.repeat(100))
    }
    assert.ok(length > MAX_HELD && length < 3 * MAX_HELD)
  })
})

describe('the text held back while a text is streamed', () => {
  it('is one word at most with the builtins', () => {
    const masker = new PlainMasker(everyBuiltin)
    assert.equal(joinPassages(masker.push('Hello wor') ?? []), 'Hello ')
    assert.equal(joinPassages(masker.push('ld, how') ?? []), 'world, ')
    assert.equal(joinPassages(masker.push(' are you') ?? []), 'how are ')
    assert.equal(joinPassages(masker.push('? I was born in 19') ?? []), 'you? I was born in ')
    assert.equal(joinPassages(masker.push('99') ?? []), '')
    assert.equal(joinPassages(masker.push(', ok') ?? []), '1999, ')
    assert.equal(joinPassages(masker.end()), 'ok')
  })

  it('is nothing where no match can begin', () => {
    const masker = new PlainMasker(patterns('secret-[a-z]+'))
    assert.equal(joinPassages(masker.push('no ') ?? []), 'no ')
    assert.equal(joinPassages(masker.push('but s') ?? []), 'but ')
    assert.equal(joinPassages(masker.push('ecret-') ?? []), '')
    assert.equal(joinPassages(masker.push('plan') ?? []), '')
    assert.equal(joinPassages(masker.push(' B') ?? []), '<masked> B')
  })

  it('is no more than the longest match where that is known, and 256 characters where it is not', () => {
    const known = new PlainMasker(patterns('[a-z]{5}9'))
    assert.equal(joinPassages(known.push('a'.repeat(100)) ?? []).length, 100 - 6 - 2)
    const unknown = new PlainMasker(patterns('(?s)x.9'))
    assert.equal(joinPassages(unknown.push('a'.repeat(1000)) ?? []).length, 1000 - 256 - 2)
  })
})

describe('matches of several rules', () => {
  it('are one where they overlap, named by the longest', () => {
    assert.equal(maskWhole(everyBuiltin, '123-45-6789@example.com'), '<EMAIL_ADDRESS>')
    assert.equal(maskWhole(patterns('abc', 'bcdef', 'fg'), 'xabcdefgx'), 'x<masked>x')
  })

  it('are the first rule’s where they are the same', () => {
    assert.equal(maskWhole([builtins.Ssn, builtins.CaSin], '046454286'), '<SSN>')
    assert.equal(maskWhole([builtins.CaSin, builtins.Ssn], '046454286'), '<CA_SIN>')
  })

  it('stay apart where they only touch', () => {
    assert.equal(maskWhole(patterns('ab', 'cd'), 'abcd'), '<masked><masked>')
  })
})

function patterns(...sources: string[]): Rule[] {
  return sources.map((source, index) => patternRule(source, index))
}

function maskWhole(rules: readonly Rule[], text: string): string {
  const masker = new PlainMasker(rules, new WholeText(rules))
  return joinPassages([...(masker.push(text) ?? []), ...masker.end()])
}

function maskPiecewise(rules: readonly Rule[], pieces: readonly string[]): string {
  const masker = new PlainMasker(rules)
  const masked = pieces.flatMap((piece) => masker.push(piece) ?? assert.fail('given up'))
  return joinPassages([...masked, ...masker.end()])
}
