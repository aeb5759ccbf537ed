import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { show } from '../testing/evaluate.ts'

/** A body of 5 MB, below the limit of any policy. */
const long = 'a'.repeat(5_000_000) + ' needle'
const many = `[${Array.from({ length: 120_000 }, (_, index) => `{"k${index}":${index}}`).join()}]`
const scope = {
  text: long,
  body: new TextEncoder().encode(long),
  json_text: many,
  json_body: new TextEncoder().encode(many),
}

describe('one pass over a long body', () => {
  for (const source of [
    'text.matches("needle$")',
    'matches(text, "[n]e+dle")',
    // This pattern runs in RE2 itself.
    'text.matches("(a|n)?(a|b)*? (?i:NEEDLE)")',
    'string(body).matches("(a|n)?(a|b)*? (?i:NEEDLE)")',
    'text.regexReplace("needle", "").size() == 5000001',
    'json(json_text).size() == 120000',
    'json(json_body)[119999].k119999 == 119999',
    'json(json_body).exists(item, "k7" in item)',
    '!text.matches("other") && text.matches("needle")',
  ]) {
    it(`does not use the budget up: ${source}`, () => assert.equal(show(source, scope), 'true'))
  }
})

describe('passes in a loop', () => {
  it('read the same bytes once', () => {
    assert.equal(show('[0, 1, 2, 3].all(n, json(json_body)[n].size() == 1)', scope), 'true')
  })

  it('are charged in proportion to their work', () => {
    for (const source of [
      '[0, 1, 2, 3].all(n, json(json_text).size() > n)',
      '[0, 1, 2, 3].all(n, json(bytes(json_text)).size() > n)',
      '["x", "y"].exists(p, text.matches(p + "(a|b)*?z"))',
      '[0, 1].all(n, text.matches("(a|n)?(a|b)*? (?i:NEEDLE)"))',
    ]) {
      assert.match(show(source, scope), /^budget/, source)
    }
  })

  it('over short texts are not affected', () => {
    const lines = { lines: Array.from({ length: 1000 }, (_, index) => `{"n":${index},"s":"text ${index}"}`) }
    assert.equal(show('lines.all(l, json(l).n < 1000 && l.matches("text [0-9]+"))', lines), 'true')
  })
})

describe('a pattern that is data', () => {
  it('is charged for its compilation, however often it runs', () => {
    assert.match(show('text.matches(pattern)', { text: 'a', pattern: '(a|b){500}'.repeat(50) }), /^budget|^bad_value/)
  })
})
