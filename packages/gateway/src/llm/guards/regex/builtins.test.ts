import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { describe, it } from 'node:test'
import type { Rule } from './text-masker.ts'
import { builtins, passesLuhn } from './builtins.ts'

interface Samples {
  /** Texts with `«»` around what is found. */
  found: string[]
  notFound: string[]
}

/** As long as a domain may be, with a last label as long as a label may be. */
const LONG_DOMAIN = `${'a'.repeat(63)}.${'1'.repeat(62)}.${'c'.repeat(63)}`

const samples: Record<keyof typeof builtins, Samples> = {
  Ssn: {
    found: [
      '«123-45-6789»',
      'My SSN is «123-45-6789».',
      '(«123-45-6789»)',
      'ssn:«123456789»,',
      'ssn=«123456789»',
      '«123 45 6789»',
      '«123.45.6789»',
      '«123-45.6789»',
      '«12345-6789»',
      '«123-456789»',
      '«123\u201145\u20116789»',
      '«123\u201345\u20136789»',
      '«123\u00a045\u00a06789»',
      '«912-70-1234» is a taxpayer number',
      '«123-45-6789» and «234-56-7890»',
      '«123-45-6789» «234-56-7890»',
      '"«123456789»"',
      'x-«123-45-6789»',
      '«123456789». Next',
      'é«123-45-6789»é',
      '1.«123-45-6789»',
      '<b>«123-45-6789»</b>',
    ],
    notFound: [
      '',
      '000-45-6789',
      '666-45-6789',
      '123-00-6789',
      '123-45-0000',
      '000456789',
      '123-45-678',
      '123-45-67890',
      '1123-45-6789',
      '12-345-6789',
      '1234567890',
      '12345678',
      'a123456789',
      '123456789b',
      '_123-45-6789',
      '123-45-6789_',
      '0.123456789',
      '3.123456789',
      '123456789.5',
      '123--45-6789',
      '123/45/6789',
      'abc-de-fghi',
      '555-123-4567',
      '2024-01-15',
      '123-45-\n6789',
    ],
  },
  CreditCard: {
    found: [
      '«4111111111111111»',
      'card «4111 1111 1111 1111» please',
      '«4111-1111-1111-1111»',
      '«4111\u20111111\u20111111\u20111111»',
      '«4222222222222»',
      '«5555555555554444»',
      '«5105105105105100»',
      '«2223003122003222»',
      '«378282246310005»',
      '«3782 822463 10005»',
      '«371449635398431»',
      '«6011111111111117»',
      '«6011 0009 9013 9424»',
      '«30569309025904»',
      '«38520000023237»',
      '«3530111333300000»',
      '«6200000000000005»',
      '2024 «4111 1111 1111 1111» 12',
      '«4111111111111111».',
      '(«4111111111111111»)',
      '«4111111111111111» «5555555555554444»',
      '"number":"«4111111111111111»"',
    ],
    notFound: [
      '',
      '4111111111111112',
      '4111 1111 1111 1112',
      '411111111111111',
      '41111111111111111',
      '411111111111111111111',
      'x4111111111111111',
      '4111111111111111x',
      '0.4111111111111111',
      '4111111111111111.5',
      '4 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1',
      '41 11 11 11 11 11 11 11',
      '4111  1111  1111  1111',
      '4111.1111.1111.1111',
      '0000000000000000',
      '7111111111111111',
      '8888888888888888',
      '9999999999999995',
      '1111111111111117',
      '1234567812345678',
    ],
  },
  PhoneNumber: {
    found: [
      '«415-555-0123»',
      'Call «(415) 555-0123» now',
      '«(415)555-0123»',
      '«415.555.0123»',
      '«415 555 0123»',
      '«4155550123»',
      '«14155550123»',
      '«1-800-555-0199»',
      '«+1 415 555 0123»',
      '«+1 (415) 555-0123»',
      '«+1-415-555-0123»',
      '«+14155550123»',
      '«415\u2011555\u20110123»',
      '«+44 20 7946 0958»',
      '«+442079460958»',
      '«020 7946 0958»',
      '«07700 900123»',
      '«+49 (0)30 1234567»',
      '«+49 30 1234567»',
      '«030 1234567»',
      '«0171 1234567»',
      '«+33 1 23 45 67 89»',
      '«0044 20 7946 0958»',
      '«0049 30 12345»',
      '«0081 3 1234 5678»',
      '«415-555-0123»: ask for Ann',
      '«+972-2-671-2345»',
      '«02-6712345»',
      '«050-123-4567»',
      '«+91 98765 43210»',
      '«98765 43210»',
      '«9876543210»',
      '«(11) 91234-5678»',
      '«(11) 9 1234-5678»',
      '«11 91234-5678»',
      '«+55 11 91234-5678»',
      '«+86 138 0013 8000»',
      'phones: «415-555-0123» «415-555-0199»',
      '«415-555-0123», «415-555-0199»',
      '(«415-555-0123»)',
      'tel:«+14155550123»',
      '«415-555-0123»x5',
      '«98765 43210»x5',
      '«+14155550123»x5',
      '«00491234567890123»',
      '«+49   (30)   (12)   (34)   (56)   (78)»   (90)',
      '«+49 1 2 3 4 5 6» 7 8',
      '«415-555-0123».',
      '«+49 30 1234567»: the office',
      '«+49 30 1234567»/8',
    ],
    notFound: [
      '',
      '555-0123',
      '115-555-0123',
      '415-155-0123',
      '2024-01-15 10:30',
      '2024-01-15 10',
      '01-15-2024 10',
      '10.0.0.1',
      '192.168.100.200',
      '1712345678',
      '1712345678901',
      '12345678901234567890',
      '415-555-01230',
      '415-555-01239',
      '3.14159265358',
      '0.4155550123',
      'a4155550123',
      '4155550123b',
      'id_4155550123',
      '4111 1111 1111 1111',
      '123-45-6789',
      '1,000,000,000',
      '+1 115 555 0123',
      '11 9 1234-5678',
      '0049 30 1234',
      '01 2 3456 789',
      '01-2345678',
      '03-12-34567',
      '+0 123 456 789',
      '+49 301 (12345)00000000000',
      '+49 301 (12345)91234567890',
      '+12',
      'C++11 and C++14',
      '550e8400-e29b-41d4-a716-446655440000',
      '2010-2020',
      '(see 12)',
      '()()()',
      '+++',
    ],
  },
  Email: {
    found: [
      '«a@b.co»',
      'Write to «john.doe@example.com».',
      '«john.doe+tag@mail.example.co.uk»',
      '<«john@example.com»>',
      'mailto:«john@example.com»?subject=x',
      '«john_doe-1%x@example-site.org»',
      '«JOHN@EXAMPLE.COM»',
      '«müller@exämple.de»',
      '«user@xn--80ak6aa92e.com»',
      '«user@example.xn--p1ai»',
      '«a@b.com»,«c@d.org»',
      '«a@b.com»-now',
      '«a@b.com»_',
      '联系«zhang@example.com»或者',
      '"«a@b.com»"',
      'a@«b@c.com»',
      '«git@github.com»:org/repo',
      `${'x'.repeat(10)}«${'y'.repeat(64)}@example.com»`,
      `«${'y'.repeat(64)}@${LONG_DOMAIN}»`,
      '«a@b.com»@c.org',
    ],
    notFound: [
      '',
      '@',
      'a@b',
      'user@localhost',
      'user@192.168.0.1',
      '@example.com',
      'user@',
      'user@.com',
      'user@example.c',
      'user @example.com',
      'user@ example.com',
      'react@18.2.0',
      'a@b.com1',
      'a@@b.com',
      'a@-.-',
      'no at sign here.com',
      `a@${LONG_DOMAIN}c`,
      `a@${LONG_DOMAIN.replace('1', '11')}`,
    ],
  },
  CaSin: {
    found: [
      '«046 454 286»',
      '«046-454-286»',
      '«046454286»',
      'SIN: «130 692 544».',
      '«046\u00a0454\u00a0286»',
      '«046-454 286»',
      '(«046454286»)',
      '«046 454 286» «130 692 544»',
    ],
    notFound: [
      '',
      '046 454 287',
      '123-456-789',
      '123456789',
      '000 000 000',
      '000000000',
      '0464542861',
      '04645428',
      'a046454286',
      '046454286b',
      '0.046454286',
      '046454286.5',
      '046.454.286',
      '046  454  286',
      '04-6454-286',
    ],
  },
}

for (const [name, rule] of Object.entries(builtins)) {
  describe(`builtin ${name}`, () => {
    const { found, notFound } = samples[rule.kind as keyof typeof builtins]
    for (const text of found) it(`finds ${JSON.stringify(text)}`, () => assert.equal(marked(rule, plain(text)), text))
    for (const text of notFound) it(`leaves ${JSON.stringify(text)}`, () => assert.equal(marked(rule, text), text))

    it('looks no further than it says', () => {
      fc.assert(
        fc.property(textOfBuiltins, (text) => expectLocal(rule, text)),
        { numRuns: 300 },
      )
    })

    it('takes time that grows with the text, not faster', () => {
      for (const unit of ['1', '12-', '(', '+1', 'a@', '@', 'a.', '4111 ', '123 ', '1.', 'a@1.']) {
        const text = unit.repeat(Math.ceil(200_000 / unit.length))
        assert.ok([...rule.matches(text, 0)].length <= text.length)
      }
    })
  })
}

describe('check digits', () => {
  it('are right for exactly one last digit', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{1,30}$/), (digits) => {
        const right = Array.from('0123456789').filter((last) => passesLuhn(digits + last))
        assert.equal(right.length, 1)
      }),
    )
  })

  it('notice every single wrong digit', () => {
    fc.assert(
      fc.property(fc.nat({ max: 15 }), fc.integer({ min: 1, max: 9 }), (at, by) => {
        const digits = Array.from('4111111111111111', Number)
        digits[at] = (digits[at]! + by) % 10
        assert.equal(passesLuhn(digits.join('')), false)
      }),
    )
  })
})

const textOfBuiltins = fc
  .array(
    fc.oneof(
      fc.constantFrom('123-45-6789', '4111111111111111', '415-555-0123', 'a@b.com', '046 454 286', '+49 (0)30 1234567'),
      fc.stringMatching(/^[0-9]{1,5}$/),
      fc.constantFrom(' ', '-', '.', '@', '(', ')', '+', 'a', '_', '\n', 'ä', '😀', '0.'),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''))

/** Matches begin and contain what the rule says, and stay when everything is cut away that it must not look at. */
function expectLocal(rule: Rule, text: string): void {
  for (const { start, end } of rule.matches(text, 0)) {
    const match = text.slice(start, end)
    assert.ok(end > start && end - start <= rule.longest)
    assert.ok(rule.canStartWith(match.charCodeAt(0)))
    for (let at = 0; at < match.length; at++) assert.ok(rule.canContain(match.charCodeAt(at)), match)
    const from = Math.max(0, start - 2)
    const [alone] = rule.matches(text.slice(from, start + rule.longest + 2), start - from)
    assert.deepEqual(alone, { start: start - from, end: end - from })
  }
}

function plain(text: string): string {
  return text.replaceAll(/[«»]/g, '')
}

function marked(rule: Rule, text: string): string {
  let out = ''
  let at = 0
  for (const { start, end } of rule.matches(text, 0)) {
    out += `${text.slice(at, start)}«${text.slice(start, end)}»`
    at = end
  }
  return out + text.slice(at)
}
