import { accepted, DASHES, DIGITS, oneOf, type Rule, SPACES } from '../rule.ts'

const DASH = `[${DASHES}]`
const SEPARATOR = `[${DASHES}${SPACES}.]`
// Nine digits alone may be the fraction or the whole part of a number.
const BARE = '(?<![0-9]\\.)[0-9]{9}(?!\\.[0-9])'
const FORMS = [
  BARE,
  `[0-9]{3}${SEPARATOR}[0-9]{2}${SEPARATOR}[0-9]{4}`,
  `[0-9]{5}${DASH}[0-9]{4}`,
  `[0-9]{3}${DASH}[0-9]{6}`,
]
const PATTERN = new RegExp(`(?<![A-Za-z0-9_])(?:${FORMS.join('|')})(?![A-Za-z0-9_])`, 'g')

/** Social security numbers of the United States; taxpayer numbers have the same form and are as private. */
export const ssn: Rule = {
  kind: 'Ssn',
  mask: '<SSN>',
  longest: 11,
  canStartWith: oneOf(DIGITS),
  canContain: oneOf(DIGITS + DASHES + SPACES + '.'),
  matches: (text, from) => accepted(PATTERN, isAssignable, { text, from }),
}

/** No number has an area of 000 or 666, or a part that is all zeros. */
function isAssignable(match: string): boolean {
  return !/^(?:000|666)|^[0-9]{3}00|0000$/.test(match.replace(/[^0-9]/g, ''))
}
