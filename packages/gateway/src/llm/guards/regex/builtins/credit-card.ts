import type { Span } from '@portico/regex'
import { passesLuhn } from '../luhn.ts'
import { DASHES, DIGITS, oneOf, type Rule, SPACES } from '../rule.ts'

/** Numbers of payment cards: an issuer that exists, its length, groups of three digits or more, the check digit. */
export const creditCard: Rule = {
  kind: 'CreditCard',
  mask: '<CREDIT_CARD>',
  longest: 24,
  canStartWith: oneOf('123456'),
  canContain: oneOf(DIGITS + DASHES + SPACES + '.'),
  matches: findCards,
}

const MIN_DIGITS = 13
const MAX_DIGITS = 19
const START = /(?<![A-Za-z0-9_]|[0-9]\.)[1-6][0-9]{3}/g
const GROUP = new RegExp(`[${DASHES}${SPACES}]?([0-9]{3,20})`, 'y')
const GOES_ON = /[A-Za-z0-9_]|\.[0-9]/y

/** Prefixes and lengths of ISO/IEC 7812 numbers that are in use. */
const ISSUED = new RegExp(
  [
    '^1[0-9]{14}$', // UATP
    '^2[2-7][0-9]{14}$', // Mastercard
    '^3[47][0-9]{13}$', // American Express
    '^3[0689][0-9]{12,17}$', // Diners Club
    '^35[0-9]{14,17}$', // JCB
    '^4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})$', // Visa
    '^5[1-5][0-9]{14}$', // Mastercard
    '^5[06-9][0-9]{11,17}$', // Maestro
    '^6[0-9]{12,18}$', // Discover, UnionPay, Maestro, RuPay
  ].join('|'),
)

function* findCards(text: string, from: number): Generator<Span> {
  START.lastIndex = from
  for (let found = START.exec(text); found !== null; found = START.exec(text)) {
    const start = found.index
    const end = cardEnd(text, start)
    if (end !== null) yield { start, end }
    START.lastIndex = end ?? start + 1
  }
}

/** The end of the longest card number from `start`; a number ends at the end of a digit group. */
function cardEnd(text: string, start: number): number | null {
  let digits = ''
  let longest: number | null = null
  GROUP.lastIndex = start
  for (let group = GROUP.exec(text); group !== null; group = GROUP.exec(text)) {
    digits += group[1] ?? ''
    if (digits.length > MAX_DIGITS) break
    if (digits.length >= MIN_DIGITS && isCard(digits) && !goesOn(text, GROUP.lastIndex)) longest = GROUP.lastIndex
  }
  return longest
}

function goesOn(text: string, at: number): boolean {
  GOES_ON.lastIndex = at
  return GOES_ON.test(text)
}

function isCard(digits: string): boolean {
  return ISSUED.test(digits) && passesLuhn(digits)
}
