import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyCharacter } from './any-character.ts'

test('every character can be shrunk as it is, halves of pairs and whole texts cannot', () => {
  for (const character of ['\0', 'a', '\ud7ff', '\ue000', '\uffff', '\u{1f600}', '\u{10ffff}']) {
    assert.ok(anyCharacter.canShrinkWithoutContext(character), JSON.stringify(character))
  }
  for (const other of ['', 'ab', '\ud800', '\udfff', 'e\u0301', 7]) {
    assert.ok(!anyCharacter.canShrinkWithoutContext(other), JSON.stringify(other))
  }
})

test('texts of them are whole, and from all planes', () => {
  const planes = new Set<number>()
  for (const text of fc.sample(fc.string({ unit: anyCharacter }), { seed: 5, numRuns: 3_000 })) {
    assert.ok(text.isWellFormed())
    for (const character of text) planes.add(character.codePointAt(0)! >> 16)
  }
  assert.equal(planes.size, 17)
})

test('names that break objects are among the texts', () => {
  const isHarmless = fc.property(fc.string({ unit: anyCharacter }), (text) => !text.includes('__proto__'))
  const { counterexample } = fc.check(isHarmless, { seed: 5, numRuns: 20_000, interruptAfterTimeLimit: 60_000 })
  assert.deepEqual(counterexample, ['__proto__'])
})
